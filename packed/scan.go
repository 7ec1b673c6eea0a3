package packed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/internal/pickle"
	"github.com/ffconvert/ffconvert/internal/place"
)

// A source is a listing of the directory tree to pack.
type source struct {
	dir  string
	fsys fs.FS    // of dir
	root *os.Root // of fsys; nil if links may lead out of dir
	opts WriteOptions

	names *pickle.Dict
	files []file // by sample
	total Totals
	up    []fs.FileInfo // the directory being listed and its parents, to find loops
	buf   []byte        // for a file that is read alone
}

// A file is a file to pack.
type file struct {
	stat
	dir, name string // dir as in join
}

func (f *file) path() string { return join(f.dir, f.name) }

// stat is compared to detect that a file changed between listing and reading. mtime is in nanoseconds.
type stat struct{ size, mtime int64 }

func statOf(info fs.FileInfo) stat { return stat{info.Size(), info.ModTime().UnixNano()} }

// openSource opens a folder. The caller must close the source.
func openSource(dir string, opts WriteOptions) (*source, error) {
	s := &source{dir: dir, opts: opts}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open folder: %w", err)
	}
	if opts.FollowOutside {
		s.fsys = os.DirFS(dir)
		return s, root.Close()
	}
	s.root, s.fsys = root, root.FS()
	return s, nil
}

func (s *source) close() {
	if s.root != nil {
		s.root.Close()
	}
}

// scan lists the whole tree and numbers its files.
func (s *source) scan(ctx context.Context) error {
	info, err := fs.Stat(s.fsys, ".")
	if err != nil {
		return s.refuse(".", err, "")
	}
	s.names, err = s.list(ctx, ".", info)
	return err
}

// list lists a directory and everything below it.
func (s *source) list(ctx context.Context, dir string, info fs.FileInfo) (*pickle.Dict, error) {
	entries, err := fs.ReadDir(s.fsys, dir) // sorted by bytes, which for UTF-8 is by code point
	if err != nil {
		return nil, s.refuse(dir, err, "")
	}
	s.up = append(s.up, info)
	defer func() { s.up = s.up[:len(s.up)-1] }()
	d := &pickle.Dict{Items: make([]pickle.Item, 0, len(entries))}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		it, err := s.entry(ctx, dir, e)
		if err != nil {
			return nil, err
		}
		d.Items = append(d.Items, it)
	}
	return d, nil
}

// entry returns the item of one name. It follows symbolic links.
func (s *source) entry(ctx context.Context, dir string, e fs.DirEntry) (it pickle.Item, err error) {
	it.Key = e.Name()
	name := join(dir, it.Key)
	switch {
	case !utf8.ValidString(it.Key):
		return it, s.refuse(name, fmt.Errorf("%w: a name that is not UTF-8", errUnsupported), "")
	case len(name) > maxPath:
		return it, s.refuse(name, fmt.Errorf("%w: a path of more than %d bytes", errLimit, maxPath), "")
	}
	info, err := fs.Stat(s.fsys, name)
	if err != nil {
		if s.leadsOut(name, e) {
			err = fmt.Errorf("%w: a symbolic link that is absolute or leads out of the folder", errUnsupported)
			return it, s.refuse(name, err, "option follow-outside follows it")
		}
		return it, s.refuse(name, s.dangling(name, e, err), "")
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		it.Int = int64(len(s.files))
		return it, s.add(dir, it.Key, info)
	case !mode.IsDir():
		return it, s.refuse(name, fmt.Errorf("%w: neither a regular file nor a directory (%v)", errUnsupported, mode.Type()), "")
	case e.Type()&fs.ModeSymlink != 0 && slices.ContainsFunc(s.up, func(up fs.FileInfo) bool { return os.SameFile(up, info) }):
		return it, s.refuse(name, fmt.Errorf("%w: a symbolic link to a directory that it is in", errUnsupported), "")
	}
	if s.total.Dirs++; s.total.Dirs > s.opts.maxFiles() {
		return it, s.refuse(name, fmt.Errorf("%w of %d directories", errLimit, s.opts.maxFiles()), s.hintFiles())
	}
	it.Dict, err = s.list(ctx, name, info)
	return it, err
}

// leadsOut reports whether a link cannot be followed only because it leads out of the folder.
func (s *source) leadsOut(name string, e fs.DirEntry) bool {
	if s.root == nil || e.Type()&fs.ModeSymlink == 0 {
		return false
	}
	_, err := os.Stat(filepath.Join(s.dir, filepath.FromSlash(name)))
	return err == nil
}

// dangling returns the error of following a symbolic link to a missing file, or to itself, as ErrUnsupported: it is a
// property of the folder, not a failure to read it. Other errors are returned unchanged.
func (s *source) dangling(name string, e fs.DirEntry, err error) error {
	if e.Type()&fs.ModeSymlink == 0 {
		return err
	}
	target, err2 := os.Readlink(filepath.Join(s.dir, filepath.FromSlash(name)))
	switch {
	case err2 != nil:
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: a symbolic link to %q, which does not exist", errUnsupported, target)
	case errors.Is(err, syscall.ELOOP):
		return fmt.Errorf("%w: a symbolic link to %q that leads back to itself", errUnsupported, target)
	}
	return err
}

// add adds a file as the next sample.
func (s *source) add(dir, base string, info fs.FileInfo) error {
	name := join(dir, base)
	if most := s.opts.maxFile(); info.Size() > most {
		err := fmt.Errorf("%w: %d bytes, at most %d are allowed", errLimit, info.Size(), most)
		return s.refuse(name, err, "option max-file-size raises the limit")
	}
	if most := s.opts.maxFiles(); int64(len(s.files)) == most {
		return s.refuse(name, fmt.Errorf("%w of %d files", errLimit, most), s.hintFiles())
	}
	s.files = append(s.files, file{statOf(info), dir, base})
	s.total.Files++
	s.total.Bytes += info.Size()
	return nil
}

// hintFiles returns the hint for too many files, "" if the limit cannot be raised.
func (s *source) hintFiles() string {
	if s.opts.maxFiles() == mostFiles {
		return ""
	}
	return "option max-files raises the limit"
}

// refuse returns an error for a path of the tree.
func (s *source) refuse(name string, err error, hint string) error {
	return &place.Error{Where: s.dir, Off: -1, Entry: name, Err: cause(err), Hint: hint}
}
