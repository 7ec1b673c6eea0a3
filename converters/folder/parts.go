package folder

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
)

// A tree is one root.
type tree struct {
	name string // as the user named it
	real string // absolute path without symbolic links

	linked map[string]string // for parts that are links to directories, their target by path

	files converters.FileSums // nil if the folder is not staged
}

// complete returns an error unless a staged directory still has the number of entries that was staged.
func (t *tree) complete(d place, l level) error {
	if t.files == nil {
		return nil
	}
	return t.files.CheckDir(strings.TrimSuffix(d.path, "/"), len(l.order))
}

// A part is a directory with everything below it, or a run of files of the first level. A source may have very many
// parts, so a part stores nothing that it can compute.
type part struct {
	tree  *tree
	name  string
	below int32 // index in name of the path below the root; for a directory
	num   int32 // number of the class; -1: none

	mu   sync.Mutex
	run  *run    // the files; nil for a directory; after list is set, listed
	list listing // see Source.listing
}

// listed is the run of a part that has a listing.
var listed = new(run)

// dir returns the directory of a part that is not listed yet.
func (p *part) dir() place {
	if p.run != nil {
		return p.run.dir
	}
	path := p.name[p.below:] + "/"
	if real, ok := p.tree.linked[path]; ok {
		return place{path, real}
	}
	return place{path, filepath.Join(p.tree.real, path)}
}

// class returns the class of a part that is not listed yet, "" if it has none.
func (p *part) class() string {
	if p.run != nil {
		return ""
	}
	return p.name[strings.LastIndexByte(p.name, '/')+1:]
}

// fail places an error at a path below the root.
func (p *part) fail(path string, err error, hint string) error {
	switch {
	case errors.Is(err, errOutside):
		hint = "option follow-outside"
	case errors.Is(err, errName):
		hint = "rename it"
	}
	return &converters.Error{Where: p.name, Off: -1, Entry: path, Err: bare(err), Hint: hint}
}

// A run is the entries of the first level between two directories. All runs of a level share names.
type run struct {
	dir   place
	names packed
	order []uint32 // entries of the run
	level level
}

// addRoot adds the parts of one root, or of its splits.
func (s *source) addRoot(ctx context.Context, root converters.Part) error {
	real, err := realDir(root.Path)
	if err != nil {
		return (&part{name: root.Name}).fail("", err, "")
	}
	t := &tree{name: root.Name, real: real, linked: make(map[string]string)}
	if root.Copy != nil {
		t.files = root.Copy.Files
	}
	if s.opts.Splits == nil {
		return s.addLevel(ctx, t, place{"", real})
	}
	for i, split := range s.opts.Splits {
		real, err := s.split(t, split)
		if err == nil && slices.Contains(s.opts.Splits[:i], split) {
			err = fmt.Errorf("%w: the split is named twice", converters.ErrDuplicate)
		}
		if err != nil {
			return (&part{name: root.Name}).fail(split, err, "option split")
		}
		to := s
		if s.opts.Only != "" && split != s.opts.Only {
			to = &source{opts: s.opts} // only for its classes
		}
		if err := to.addLevel(ctx, t, place{split + "/", real}); err != nil {
			return err
		}
		if to != s {
			s.addOthers(to)
		}
	}
	return nil
}

// addOthers adds the classes of a split that is not converted.
func (s *source) addOthers(of *source) {
	if s.others == nil {
		s.others = make(map[string]bool)
	}
	for i := range of.dirs {
		if class := of.dirs[i].class(); class != "" {
			s.others[class] = true
		}
	}
}

// split returns the path of the directory of a split, without symbolic links.
func (s *source) split(t *tree, name string) (string, error) {
	if name == "." || !filepath.IsLocal(name) || strings.ContainsAny(name, "/"+string(filepath.Separator)) {
		return "", fmt.Errorf("%w: a split is one directory of the root", converters.ErrUnsupported)
	}
	if err := checkName([]byte(name)); err != nil {
		return "", err
	}
	real, err := realDir(filepath.Join(t.real, name))
	if err != nil {
		return "", err
	}
	return real, s.inside(t, real)
}

// addLevel adds the parts of one first level: its directories, and the files between them.
func (s *source) addLevel(ctx context.Context, t *tree, d place) error {
	w := walker{src: s, part: &part{tree: t, name: t.name}, l: new(listing)}
	if _, err := w.enter(d); err != nil {
		return err
	}
	level, err := s.level(ctx, d, true, &w.l.names)
	if err == nil {
		err = t.complete(d, level)
	}
	if err != nil {
		return w.part.fail(d.path, err, "")
	}
	names, order := w.l.names, level.order
	if s.opts.Pairs != nil { // files of one sample are in several directories
		s.add(t, t.name, 0, &run{d, names, order, level})
		return nil
	}
	prefix := strings.TrimRight(t.name+"/"+d.path, "/") + "/"
	below := int32(len(prefix) - len(d.path))
	dirs := dirNames(prefix, names, order)
	s.dirs, s.parts = slices.Grow(s.dirs, parts(names, order)), slices.Grow(s.parts, parts(names, order))
	for from := 0; from < len(order); {
		name := string(names.name(order[from]))
		if names.kind(order[from]).isDir() {
			child, err := w.child(d, order[from])
			if err != nil {
				return err
			}
			if names.kind(order[from]) == kindLinkedDir {
				t.linked[child.path] = child.real
			}
			name, dirs = dirs[:len(prefix)+len(name)-1], dirs[len(prefix)+len(name)-1:]
			s.add(t, name, below, nil)
			from++
			continue
		}
		to := from + 1
		for to < len(order) && !names.kind(order[to]).isDir() {
			to++
		}
		// The part of the files before the first directory has the name of the root. A later
		// one has the name of its first file, which is unique.
		switch {
		case from == 0:
			name = cmp.Or(strings.TrimSuffix(prefix, "/"), "/")
		case checkName([]byte(name)) != nil: // the file may be skipped later
			name = prefix + strconv.Quote(name)
		default:
			name = prefix + name
		}
		s.add(t, name, 0, &run{d, names, order[from:to], level})
		from = to
	}
	return nil
}

// parts returns the number of parts that the entries of a first level make.
func parts(names packed, order []uint32) int {
	n := 0
	for i, at := range order {
		if names.kind(at).isDir() || i == 0 || names.kind(order[i-1]).isDir() {
			n++
		}
	}
	return n
}

// dirNames returns the names of all parts that are directories, concatenated in one string to save
// memory.
func dirNames(prefix string, names packed, order []uint32) string {
	var all strings.Builder
	for _, at := range order {
		if names.kind(at).isDir() {
			all.WriteString(prefix)
			all.Write(bytes.TrimSuffix(names.name(at), []byte{'/'}))
		}
	}
	return strings.Clone(all.String()) // without unused capacity
}

func (s *source) add(t *tree, name string, below int32, r *run) {
	s.dirs = append(s.dirs, part{tree: t, name: name, below: below, num: -1, run: r})
	s.parts = append(s.parts, converters.Part{Name: name})
}

// numberClasses numbers the classes, and sets part.num.
func (s *source) numberClasses() error {
	if s.opts.Flat {
		return nil
	}
	s.classes = slices.Clone(s.opts.Classes)
	if s.classes == nil {
		found := make(map[string]bool)
		maps.Copy(found, s.others)
		for i := range s.dirs {
			if class := s.dirs[i].class(); class != "" {
				found[class] = true
			}
		}
		s.classes = slices.Sorted(maps.Keys(found))
	}
	number := make(map[string]int32, len(s.classes))
	for i, class := range s.classes {
		if _, twice := number[class]; twice {
			return fmt.Errorf("number the classes: %w: %q is listed twice", converters.ErrDuplicate, class)
		}
		number[class] = int32(i)
	}
	for i := range s.dirs {
		p := &s.dirs[i]
		class := p.class()
		if class == "" {
			continue
		}
		n, known := number[class]
		if !known {
			return &converters.Error{Where: p.name, Off: -1, Err: fmt.Errorf("%w: %q is not one of the classes that were named", converters.ErrUnsupported, class), Hint: "option classes"}
		}
		p.num = n
	}
	return nil
}

// realDir returns the absolute path of a directory without symbolic links.
func realDir(path string) (string, error) {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !st.IsDir():
		return "", fmt.Errorf("%w: not a directory", converters.ErrUnsupported)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// bare removes the path from an operating system error, because converters.Error has it.
func bare(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return fmt.Errorf("%s: %w", at.Op, at.Err)
	}
	return err
}
