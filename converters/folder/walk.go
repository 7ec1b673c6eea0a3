package folder

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/text"
)

// listing returns the listing of a part. The first call makes it; a failed call is repeated.
func (s *source) listing(ctx context.Context, p *part) (*listing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run == listed {
		return &p.list, nil
	}
	w := walker{src: s, part: p, l: new(listing), dir: p.dir()}
	w.linked = map[string]bool{w.dir.real: true}
	if err := w.walk(ctx); err != nil {
		return nil, err
	}
	if s.opts.Pairs != nil {
		if err := w.pair(ctx); err != nil {
			return nil, err
		}
	}
	if n := w.l.names; cap(n)-len(n) > len(n)/16 { // much unused capacity
		w.l.names = slices.Clone(n[:len(n):len(n)])
	}
	p.list, p.run = *w.l, listed
	return &p.list, nil
}

// A walker makes the listing of a part.
type walker struct {
	src    *source
	part   *part
	dir    place // of the part
	l      *listing
	linked map[string]bool // targets of links to directories so far
	group  group
}

// walk lists the whole part.
func (w *walker) walk(ctx context.Context) error {
	if r := w.part.run; r != nil {
		w.l.names = r.names // the entries are in these names
		return w.entries(ctx, w.dir, 0, r.order, r.level)
	}
	return w.directory(ctx, w.dir)
}

// directory lists a directory and everything below it.
func (w *walker) directory(ctx context.Context, d place) error {
	at, err := w.enter(d)
	if err != nil {
		return err
	}
	level, err := w.src.level(ctx, d, false, &w.l.names)
	if err == nil {
		err = w.part.tree.complete(d, level)
	}
	if err != nil {
		return w.part.fail(d.path, err, "")
	}
	return w.entries(ctx, d, at, level.order, level)
}

// enter adds a directory to names and returns its offset for entry.dir.
func (w *walker) enter(d place) (uint32, error) {
	real := d.real
	if real == filepath.Join(w.part.tree.real, d.path) {
		real = ""
	}
	at := len(w.l.names)
	if at+len(d.path)+len(real)+2 > maxPacked {
		return 0, w.part.fail(d.path, errPacked, "")
	}
	w.l.names = append(append(w.l.names, d.path...), 0)
	w.l.names = append(append(w.l.names, real...), 0)
	return uint32(at), nil
}

// entries lists the given entries of a directory whose offset in names is dir. level has all its entries.
func (w *walker) entries(ctx context.Context, d place, dir uint32, entries []uint32, level level) error {
	l := w.l
	w.reserve(entries)
	keys := keys{l: l, o: &w.src.opts, dir: []byte(d.path), level: level}
	for i, at := range entries {
		if i%batch == 0 && ctx.Err() != nil {
			return w.part.fail(d.path, ctx.Err(), "")
		}
		switch kind := l.names.kind(at); {
		case kind == kindBad:
			name := string(l.names.name(at))
			return w.part.fail(d.path+name, bad(filepath.Join(d.real, name)), "")
		case kind.isFile():
			if err := w.file(d, dir, at, &keys); err != nil {
				return err
			}
		case kind.isDir():
			child, err := w.child(d, at)
			if err != nil {
				return err
			}
			if kind == kindLinkedDir {
				if w.linked[child.real] {
					return w.part.fail(child.path, fmt.Errorf("%w: a symbolic link to %q, where another one has led", converters.ErrDuplicate, child.real), "")
				}
				w.linked[child.real] = true
			}
			if err := w.directory(ctx, child); err != nil {
				return err
			}
		default:
			l.more().skips = append(l.more().skips, skip{uint32(len(l.files)), dir, at})
		}
	}
	return nil
}

// reserve allocates space for the files among entries, often all files of the part.
func (w *walker) reserve(entries []uint32) {
	files := 0
	for _, at := range entries {
		if w.l.names.kind(at).isFile() {
			files++
		}
	}
	w.l.files = slices.Grow(w.l.files, files)
}

// child returns the directory of the entry at offset at, with its symbolic link resolved.
func (w *walker) child(d place, at uint32) (place, error) {
	name := strings.TrimSuffix(string(w.l.names.name(at)), "/")
	c := place{d.path + name + "/", filepath.Join(d.real, name)}
	err := checkName([]byte(name))
	if err == nil && w.l.names.kind(at) == kindLinkedDir {
		c.real, err = w.src.follow(w.part.tree, c.real)
		if err == nil && within(d.real, c.real) {
			err = fmt.Errorf("%w: a symbolic link to a directory that it is in", converters.ErrMalformed)
		}
	}
	if err != nil {
		return c, w.part.fail(c.path, err, "")
	}
	return c, nil
}

// file adds the file at to the sample of the previous file or to a new sample.
func (w *walker) file(d place, dir, at uint32, keys *keys) error {
	l, o := w.l, &w.src.opts
	name := l.names.name(at)
	fail := func(err error, hint string) error { return w.part.fail(d.path+string(name), err, hint) }
	if err := checkName(name); err != nil {
		return fail(err, "")
	}
	size, mtime, err := w.stat(d, at)
	if files := w.part.tree.files; err == nil && files != nil {
		err = files.CheckListed(d.path+string(name), size, time.Unix(0, mtime))
	}
	if err != nil {
		return fail(err, "")
	}

	if o.Pairs != nil { // pair groups the files later
		return w.add(size, mtime, dir, at, fail)
	}
	twin, joins := keys.add(at)
	if !joins {
		if twin != nil && !o.KeepDuplicates {
			hint := "option on-duplicate-key keep"
			if !o.Group {
				hint = "option group makes one sample of them, option on-duplicate-key keep two"
			}
			return fail(fmt.Errorf("%w key: %q has it too", converters.ErrDuplicate, twin), hint)
		}
		if twin != nil {
			l.more().again = append(l.more().again, uint32(l.samples()))
		}
		if o.Group {
			l.more().first = append(l.more().first, uint32(len(l.files)))
		}
		w.group.reset(!o.Flat)
	}
	_, suffix := o.split(keys.dir, name)
	if err := w.group.add(suffix); err != nil {
		return fail(err, "")
	}
	if size > o.MaxSample-w.group.bytes-fileCost {
		return fail(fmt.Errorf("%w: its sample has more than %s", converters.ErrLimit, text.Count(o.MaxSample, "byte")), "option max-sample-size")
	}
	w.group.bytes += size + fileCost
	return w.add(size, mtime, dir, at, fail)
}

// add adds a file to the listing.
func (w *walker) add(size, mtime int64, dir, at uint32, fail func(error, string) error) error {
	before := w.l.off(len(w.l.files))
	if size > math.MaxInt64-before {
		return fail(fmt.Errorf("%w: the files of the part have more than 8 EiB", converters.ErrLimit), "")
	}
	w.l.files = append(w.l.files, entry{before + size, mtime, dir, at})
	return nil
}

// stat returns size and time of a file, or of the target of a link.
func (w *walker) stat(d place, at uint32) (size, mtime int64, err error) {
	path := d.real + string(filepath.Separator) + string(w.l.names.name(at))
	var st fs.FileInfo
	if w.l.names.kind(at) == kindLink {
		if path, err = w.src.follow(w.part.tree, path); err != nil {
			return 0, 0, err
		}
	}
	if st, err = os.Lstat(path); err != nil {
		return 0, 0, err
	}
	if !st.Mode().IsRegular() {
		return 0, 0, fmt.Errorf("%w: not a regular file", converters.ErrChanged)
	}
	return st.Size(), st.ModTime().UnixNano(), nil
}
