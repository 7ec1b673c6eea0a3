package packed

import (
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"strings"
	"time"

	"github.com/ffconvert/ffconvert/internal/pickle"
	"github.com/ffconvert/ffconvert/record"
)

// A Folder is an open packed folder. It is an [fs.FS], with [fs.StatFS], [fs.ReadDirFS]
// and [fs.ReadFileFS]. All its methods but Close may be called concurrently. It holds the
// names in memory, and no content.
type Folder struct {
	path  string
	r     *record.Reader
	root  *pickle.Dict
	total Totals
}

// Open opens a packed folder, ours or one that Python wrote. It checks the header, the
// names and that they lead to every sample once: [ErrNotPacked], [ErrMalformed], or an
// error of package record. The contents of files are checked as they are read.
// opts.MaxSample bounds the files and the names.
func Open(path string, opts record.Options) (*Folder, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, &Error{Path: path, Sample: -1, Err: fmt.Errorf("%w: it is a directory", ErrNotPacked)}
	}
	r, err := record.Open(path, opts)
	if err != nil {
		return nil, err
	}
	f := &Folder{path: path, r: r}
	if err := f.load(); err != nil {
		r.Close()
		return nil, err
	}
	return f, nil
}

// load reads the names.
func (f *Folder) load() error {
	last := f.r.Len() - 1
	if last < 0 {
		return &Error{Path: f.path, Sample: -1, Err: fmt.Errorf("%w: it has no samples", ErrNotPacked)}
	}
	sample, err := f.r.Read(last, nil)
	if err != nil {
		return err
	}
	if f.root, f.total.Dirs, err = parseNames(string(sample), int64(last)); err != nil {
		return &Error{Path: f.path, Sample: int64(last), Err: err}
	}
	f.total.Files = int64(last)
	for i := range f.total.Files {
		f.total.Bytes += f.size(i)
	}
	return nil
}

// Close closes the file. No other method may be under way.
func (f *Folder) Close() error { return f.r.Close() }

// Totals counts what is in the folder.
func (f *Folder) Totals() Totals { return f.total }

// An Entry is a file or a directory of a Folder. It is an [fs.FileInfo] and an
// [fs.DirEntry]; its mode is 0444 or 0555, its time is zero.
type Entry struct {
	Path   string // from the root of the folder, with slashes; "." is the root
	Sample int64  // index in the FFRecord file, -1 for a directory
	size   int64
}

// Name is the last element of the path.
func (e Entry) Name() string { return path.Base(e.Path) }

// IsDir says that it is a directory.
func (e Entry) IsDir() bool { return e.Sample < 0 }

// Size is in bytes, 0 for a directory.
func (e Entry) Size() int64 { return e.size }

// Mode is that of a file that nobody writes to.
func (e Entry) Mode() fs.FileMode {
	if e.IsDir() {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// Type is the type in Mode.
func (e Entry) Type() fs.FileMode { return e.Mode().Type() }

// ModTime is zero: a packed folder keeps no times.
func (e Entry) ModTime() time.Time { return time.Time{} }

// Info is the entry itself.
func (e Entry) Info() (fs.FileInfo, error) { return e, nil }

// Sys is nil.
func (e Entry) Sys() any { return nil }

// String is one line, as fs.FormatDirEntry makes it.
func (e Entry) String() string { return fs.FormatDirEntry(e) }

// Clean makes a name that this package takes of one that a person types: "", "/", "/a/b",
// "a//b/" and "./a" become ".", ".", "a/b", "a/b" and "a". No name leads out of the folder.
func Clean(name string) string {
	if name = strings.TrimPrefix(path.Clean("/"+name), "/"); name == "" {
		return "."
	}
	return name
}

// List returns what is in the directory name, in stored order; of a file, the file alone.
// The name is cleaned first. One that is not there is [fs.ErrNotExist].
func (f *Folder) List(name string) ([]Entry, error) {
	name = Clean(name)
	it, err := f.find("list", name)
	if err != nil {
		return nil, err
	}
	if it.Dict == nil {
		return []Entry{f.entry(name, it)}, nil
	}
	list := make([]Entry, 0, len(it.Dict.Items))
	for _, child := range it.Dict.Items {
		list = append(list, f.entry(join(name, child.Key), child))
	}
	return list, nil
}

// Walk yields all that is below the directory name, depth first, in stored order; of a
// file, the file alone. The name is cleaned first. The only error is the first and last
// pair: the name is not there.
func (f *Folder) Walk(name string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		name := Clean(name)
		it, err := f.find("walk", name)
		switch {
		case err != nil:
			yield(Entry{}, err)
		case it.Dict == nil:
			yield(f.entry(name, it), nil)
		default:
			for path, it := range walk(it.Dict, name) {
				if !yield(f.entry(path, it), nil) {
					return
				}
			}
		}
	}
}

// find is the item of a clean name.
func (f *Folder) find(op, name string) (pickle.Item, error) {
	it := pickle.Item{Dict: f.root}
	if name == "." {
		return it, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		ok := it.Dict != nil
		if ok {
			it, ok = it.Dict.Get(part)
		}
		if !ok {
			return it, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
		}
	}
	return it, nil
}

func (f *Folder) entry(path string, it pickle.Item) Entry {
	if it.Dict != nil {
		return Entry{Path: path, Sample: -1}
	}
	return Entry{Path: path, Sample: it.Int, size: f.size(it.Int)}
}

// size is that of sample i, which Open found to be there.
func (f *Folder) size(i int64) int64 {
	_, extent, err := f.r.Extent(int(i))
	if err != nil {
		panic(fmt.Sprintf("packed: %v", err))
	}
	return extent.Size
}

// read returns the content of a file, in buf's memory if that is large enough. No bytes
// are returned whose CRC is wrong.
func (f *Folder) read(path string, sample int64, buf []byte) ([]byte, error) {
	data, err := f.r.Read(int(sample), buf)
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", path, err)
	}
	return data, nil
}
