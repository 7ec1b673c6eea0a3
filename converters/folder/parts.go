package folder

import (
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
	real string // where it is, absolute, all links resolved
}

// A part is what one part is made of: a directory and all below it, or files of the first
// level.
type part struct {
	tree  *tree
	name  string
	dir   place  // the directory, or that of the files
	class string // "" where there are none
	num   int64  // of the class, -1 where there is none

	mu   sync.Mutex
	run  *run     // the files; nil for a directory, and once they are listed
	list *listing // nil until it is needed
}

// fail places an error at a path below the root.
func (p *part) fail(path string, err error, hint string) error {
	switch {
	case errors.Is(err, errOutside):
		hint = "--follow-outside"
	case errors.Is(err, errName):
		hint = "rename it"
	}
	return &converters.Error{Part: p.name, Off: -1, Entry: path, Err: bare(err), Hint: hint}
}

// A run is entries of the first level that no directory divides. names is that of the
// whole level, which all its runs share.
type run struct {
	names packed
	order []uint32 // this run
	level level
}

// addRoot makes parts of one root, or of its splits.
func (s *Source) addRoot(ctx context.Context, root converters.Part) error {
	real, err := realDir(root.Path)
	if err != nil {
		return (&part{name: root.Name}).fail("", err, "")
	}
	t := &tree{root.Name, real}
	if s.opts.Splits == nil {
		return s.addLevel(ctx, t, place{"", real})
	}
	for i, split := range s.opts.Splits {
		real, err := s.split(t, split)
		if err == nil && slices.Contains(s.opts.Splits[:i], split) {
			err = fmt.Errorf("%w: the split is named twice", converters.ErrDuplicate)
		}
		if err != nil {
			return (&part{name: root.Name}).fail(split, err, "--split")
		}
		if err := s.addLevel(ctx, t, place{split + "/", real}); err != nil {
			return err
		}
	}
	return nil
}

// split returns where the directory of a split really is.
func (s *Source) split(t *tree, name string) (string, error) {
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

// addLevel makes parts of the first level: its directories, and the files between them.
func (s *Source) addLevel(ctx context.Context, t *tree, d place) error {
	w := walker{src: s, part: &part{tree: t, name: t.name}, l: &listing{}}
	if _, err := w.enter(d); err != nil {
		return err
	}
	level, err := s.level(ctx, d, true, &w.l.names)
	if err != nil {
		return w.fail(d.path, err, "")
	}
	names, order := w.l.names, level.order
	prefix := strings.TrimRight(t.name+"/"+d.path, "/") + "/"
	for from := 0; from < len(order); {
		name := string(names.name(order[from]))
		if names.kind(order[from]).isDir() {
			child, err := w.child(d, order[from])
			if err != nil {
				return err
			}
			p := &part{tree: t, dir: child, num: -1}
			name = strings.TrimSuffix(name, "/")
			if !s.opts.Flat {
				p.class = name
			}
			s.add(p, prefix+name)
			from++
			continue
		}
		to := from + 1
		for to < len(order) && !names.kind(order[to]).isDir() {
			to++
		}
		// The files before the first directory go by the name of the root, others by
		// that of their first, which no other part can have.
		switch {
		case from == 0:
			name = cmp.Or(strings.TrimSuffix(prefix, "/"), "/")
		case checkName([]byte(name)) != nil: // it may be a file that is passed over
			name = prefix + strconv.Quote(name)
		default:
			name = prefix + name
		}
		s.add(&part{tree: t, dir: d, num: -1, run: &run{names, order[from:to], level}}, name)
		from = to
	}
	return nil
}

func (s *Source) add(p *part, name string) {
	p.name = name
	s.dirs = append(s.dirs, p)
	s.parts = append(s.parts, converters.Part{Name: name})
}

// numberClasses gives each class its number, and each part that of its class.
func (s *Source) numberClasses() error {
	if s.opts.Flat {
		return nil
	}
	s.classes = slices.Clone(s.opts.Classes)
	if s.classes == nil {
		found := make(map[string]bool)
		for _, p := range s.dirs {
			if p.class != "" {
				found[p.class] = true
			}
		}
		s.classes = slices.Sorted(maps.Keys(found))
	}
	number := make(map[string]int64, len(s.classes))
	for i, class := range s.classes {
		if _, twice := number[class]; twice {
			return fmt.Errorf("number the classes: %w: %q is listed twice", converters.ErrDuplicate, class)
		}
		number[class] = int64(i)
	}
	for _, p := range s.dirs {
		if p.class == "" {
			continue
		}
		n, known := number[p.class]
		if !known {
			return &converters.Error{Part: p.name, Off: -1, Err: fmt.Errorf("%w: %q is not one of the classes that were named", converters.ErrUnsupported, p.class), Hint: "--classes"}
		}
		p.num = n
	}
	return nil
}

// realDir resolves all links of the path of a directory.
func realDir(path string) (string, error) {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !st.IsDir():
		return "", fmt.Errorf("%w: it is no directory", converters.ErrUnsupported)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// bare drops the path of an operating system error: what it is placed by has it.
func bare(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return fmt.Errorf("%s: %w", at.Op, at.Err)
	}
	return err
}
