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
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
)

// A Folder is an open packed folder. It implements [fs.FS], [fs.StatFS], [fs.ReadDirFS] and [fs.ReadFileFS]. All
// methods but Close may be called concurrently. A Folder holds all names and sizes in memory, but no contents.
type Folder struct {
	path  string
	r     *record.Reader
	root  *pickle.Dict
	sizes []int64 // of the samples but the last, bytes
	total Totals
}

// Open opens a packed folder, written by this package or by Python. It checks the header and that
// the names name every sample exactly once. The error is [ErrNotPacked], one that says that the names
// are malformed, or one of package record. The contents of files are checked when they are read. opts.MaxSample limits the
// size of each file and of the names.
func Open(path string, opts record.Options) (*Folder, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, &place.Error{Where: path, Off: -1, Err: fmt.Errorf("%w: it is a directory", ErrNotPacked)}
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

// load reads the names and computes the totals.
func (f *Folder) load() error {
	last := f.r.Len() - 1
	if last < 0 {
		return &place.Error{Where: f.path, Off: -1, Err: fmt.Errorf("%w: it has no samples", ErrNotPacked)}
	}
	sample, err := f.r.Read(last, nil)
	if err != nil {
		return err
	}
	if f.root, f.total.Dirs, err = parseNames(string(sample), int64(last)); err != nil {
		return &place.Error{Where: f.path, Off: -1, Err: fmt.Errorf("sample %d: %w", last, err)}
	}
	f.total.Files = int64(last)
	for i := range last {
		_, e, err := f.r.Extent(i)
		if err != nil {
			return err
		}
		f.sizes = append(f.sizes, e.Size)
		f.total.Bytes += e.Size
	}
	return nil
}

// Close closes the file. It must not be called while another method runs.
func (f *Folder) Close() error { return f.r.Close() }

// Totals returns the numbers of files, directories and bytes in the folder.
func (f *Folder) Totals() Totals { return f.total }

// An Entry is a file or a directory of a Folder. It implements [fs.FileInfo].
// Its mode is 0444 or 0555, its time is zero.
type Entry struct {
	Path   string // from the root of the folder, with slashes; "." is the root
	Sample int64  // index in the FFRecord file, -1 for a directory
	size   int64
}

// Name returns the last element of the path.
func (e Entry) Name() string { return path.Base(e.Path) }

// IsDir reports whether the entry is a directory.
func (e Entry) IsDir() bool { return e.Sample < 0 }

// Size returns the size in bytes, 0 for a directory.
func (e Entry) Size() int64 { return e.size }

// Mode returns 0444 for a file and [fs.ModeDir] | 0555 for a directory.
func (e Entry) Mode() fs.FileMode {
	if e.IsDir() {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// ModTime returns the zero time: a packed folder does not keep times.
func (e Entry) ModTime() time.Time { return time.Time{} }

// Sys returns nil.
func (e Entry) Sys() any { return nil }

// String returns the entry on one line, as [fs.FormatDirEntry] formats it.
func (e Entry) String() string { return fs.FormatDirEntry(fs.FileInfoToDirEntry(e)) }

// Clean turns a path as users type it into a path of package [io/fs]: "", "/", "/a/b", "a//b/" and
// "./a" become ".", ".", "a/b", "a/b" and "a". The result never leads out of the folder.
func Clean(name string) string {
	if name = strings.TrimPrefix(path.Clean("/"+name), "/"); name == "" {
		return "."
	}
	return name
}

// List returns the entries of a directory in stored order, or the entry of a file. It applies
// [Clean] to name. The error is [fs.ErrNotExist] if the folder does not have the name.
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

// Walk yields all entries below a directory, depth first, in stored order, or the entry of a file. It applies [Clean]
// to name. If the folder does not have the name, Walk yields [fs.ErrNotExist] and nothing else.
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

// find returns the item of a clean name. op is for the error.
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
	return Entry{Path: path, Sample: it.Int, size: f.sizes[it.Int]}
}

// read returns the content of a file and checks its CRC. It uses buf if that is large enough.
func (f *Folder) read(path string, sample int64, buf []byte) ([]byte, error) {
	data, err := f.r.Read(int(sample), buf)
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", path, err)
	}
	return data, nil
}
