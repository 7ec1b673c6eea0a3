package folder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

// A kind is the type of a directory entry, as far as the options treat it differently.
type kind byte

const (
	kindFile kind = iota + 1
	kindLink      // a symbolic link to a regular file
	kindDir
	kindLinkedDir // a symbolic link to a directory
	kindBad       // refused when the walk reaches it: a device, a dangling link

	// Skipped.
	kindHidden
	kindHiddenDir
	kindOutside
	kindOther
	kindUnpaired
	kindNoPair
)

func (k kind) isFile() bool { return k == kindFile || k == kindLink }
func (k kind) isDir() bool  { return k == kindDir || k == kindLinkedDir }

// skipped returns the reason for skipping entries of a kind, "" if they are not skipped.
func (k kind) skipped() string {
	switch k {
	case kindHidden:
		return "hidden file"
	case kindHiddenDir:
		return "hidden directory"
	case kindOutside:
		return "file outside a class"
	case kindOther:
		return "extension not selected"
	case kindUnpaired:
		return "file without its pair"
	case kindNoPair:
		return "file of no pair"
	}
	return ""
}

// A place is a directory: its path below the root, empty or ending in a slash, and its absolute path
// without symbolic links.
type place struct{ path, real string }

// packed has the names of many entries in one slice: for each its kind, its name and a NUL. The name of
// a directory ends in a slash, so that names sort as paths do.
type packed []byte

// maxPacked is the largest size of packed, because offsets in it have 32 bits.
const maxPacked = math.MaxUint32

var errPacked = fmt.Errorf("%w: the names of one part are more than 4 GiB", converters.ErrLimit)

func (p packed) kind(at uint32) kind { return kind(p[at]) }

// name returns the name of an entry, with the slash of a directory.
func (p packed) name(at uint32) []byte { return p.text(at + 1) }

// text returns the bytes before the next NUL.
func (p packed) text(at uint32) []byte {
	b := p[at:]
	return b[:bytes.IndexByte(b, 0)]
}

// add appends an entry and returns its offset.
func (p *packed) add(k kind, name string) (at uint32, err error) {
	if len(*p)+len(name)+3 > maxPacked {
		return 0, errPacked
	}
	at = uint32(len(*p))
	*p = append(append(*p, byte(k)), name...)
	if k.isDir() {
		*p = append(*p, '/')
	}
	*p = append(*p, 0)
	return at, nil
}

// compare orders two entries of one directory by their names. The names differ at the first NUL at the
// latest, so the bytes after it do not matter.
func (p packed) compare(a, b uint32) int { return bytes.Compare(p[a+1:], p[b+1:]) }

// batch is the number of directory entries to read at once.
const batch = 1024

// A level is the entries of one directory.
type level struct {
	order []uint32 // their offsets in names, in the order of samples
	bare  bool     // some file has a name without a dot
}

// level appends the entries of a directory to names. top means that its directories are classes.
func (s *source) level(ctx context.Context, d place, top bool, names *packed) (l level, err error) {
	f, err := os.OpenFile(d.real, openFlags, 0)
	if err != nil {
		return l, err
	}
	defer f.Close()
	for {
		if err := ctx.Err(); err != nil {
			return l, err
		}
		entries, err := f.ReadDir(batch)
		for _, e := range entries {
			kind, name := s.classify(d, e, top), e.Name()
			at, err := names.add(kind, name)
			if err != nil {
				return l, err
			}
			l.order = append(l.order, at)
			l.bare = l.bare || kind.isFile() && strings.IndexByte(name, '.') < 0
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return l, err
		}
	}
	slices.SortFunc(l.order, names.compare)
	for i := 1; i < len(l.order); i++ {
		if name := names.name(l.order[i]); bytes.Equal(name, names.name(l.order[i-1])) {
			return l, fmt.Errorf("%w: %q is listed twice", converters.ErrChanged, name)
		}
	}
	if s.opts.Group {
		names.gather([]byte(d.path), l.order)
	}
	return l, nil
}

// classify returns the kind of a directory entry. It needs a system call only for links.
func (s *source) classify(d place, e fs.DirEntry, top bool) kind {
	name, typ := e.Name(), e.Type()
	if !s.opts.Hidden && name[0] == '.' {
		if typ.IsDir() {
			return kindHiddenDir
		}
		return kindHidden
	}
	file, dir := kindFile, kindDir
	if typ&fs.ModeSymlink != 0 {
		file, dir = kindLink, kindLinkedDir
		st, err := os.Stat(filepath.Join(d.real, name))
		if err != nil {
			return kindBad
		}
		typ = st.Mode().Type()
	}
	switch {
	case typ.IsDir():
		return dir
	case top && !s.opts.Flat:
		return kindOutside
	case !s.opts.selects(name):
		return kindOther
	case !typ.IsRegular():
		return kindBad
	}
	return file
}

// gather moves the files of one sample together, to the place of the first of them. In the order of paths a directory
// a.d/ is between a.cls and a.jpg.
func (p packed) gather(dir []byte, order []uint32) {
	var others []uint32
	for from := 0; from < len(order); {
		name := p.name(order[from])
		stem := name[:splitName(dir, name)+1]
		to := from + 1
		for len(stem) > 0 && to < len(order) && bytes.HasPrefix(p.name(order[to]), stem) {
			to++
		}
		group := order[from:to]
		from = to
		isFile := func(at uint32) bool { return p.kind(at).isFile() }
		group = group[max(0, slices.IndexFunc(group, isFile)):]
		others = others[:0]
		n := 0
		for _, at := range group {
			if isFile(at) {
				group[n] = at
				n++
			} else {
				others = append(others, at)
			}
		}
		copy(group[n:], others)
	}
}
