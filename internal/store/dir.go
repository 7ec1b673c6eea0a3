package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/place"
)

// A Dir is the [Store] of the files below a directory. The URL of a file is its slash-separated name relative to Root.
// List yields everything but directories; Stat, Read and Fetch refuse what is not a regular file. Nothing is retried. A
// file has no version: Read and Fetch return the bytes that it has at that moment.
type Dir struct{ Root *os.Root }

var _ Store = (*Dir)(nil)

// OpenDir opens a directory.
func OpenDir(name string) (*Dir, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, missing(place.IOError(name, err))
	}
	return &Dir{root}, nil
}

// missing changes the kind of an error about a missing file: the input is wrong, not the system.
func missing(e *place.Error) error {
	if errors.Is(e, fs.ErrNotExist) {
		e.Kind = place.None
	}
	return e
}

const dirBlock = 4 << 20 // bytes that Fetch and Put copy at once

// fault adds the path of the file to an error.
func (d *Dir) fault(name string, err error) error {
	return missing(place.IOError(filepath.Join(d.Root.Name(), name), err))
}

func (d *Dir) Stat(_ context.Context, name string) (Object, error) {
	st, err := d.Root.Lstat(name)
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return Object{}, d.fault(name, err)
	}
	return Object{URL: name, Size: st.Size(), Modified: st.ModTime()}, nil
}

// Open opens a regular file.
func (d *Dir) Open(name string) (*os.File, error) {
	if _, err := d.Stat(context.Background(), name); err != nil {
		return nil, err
	}
	f, err := files.Blocking(d.Root.OpenFile(name, os.O_RDONLY, 0))
	if err != nil {
		return nil, d.fault(name, err)
	}
	return f, nil
}

func (d *Dir) List(_ context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		var found []Object
		err := fs.WalkDir(d.Root.FS(), cmp.Or(strings.TrimSuffix(prefix[:strings.LastIndexByte(prefix, '/')+1], "/"), "."), func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasPrefix(name, prefix) {
				return err
			}
			st, err := e.Info()
			if err == nil {
				found = append(found, Object{URL: name, Size: st.Size(), Modified: st.ModTime()})
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(Object{}, d.fault(prefix, err))
			return
		}
		slices.SortFunc(found, func(a, b Object) int { return strings.Compare(a.URL, b.URL) })
		for _, o := range found {
			if !yield(o, nil) {
				return
			}
		}
	}
}

// Pending yields nothing: an unfinished file has a temporary name.
func (d *Dir) Pending(context.Context, string) iter.Seq2[Object, error] {
	return func(func(Object, error) bool) {}
}

func (d *Dir) Read(_ context.Context, o Object, p []byte, off int64) error {
	f, err := d.Open(o.URL)
	if err != nil {
		return err
	}
	defer f.Close()
	if n, err := f.ReadAt(p, off); n < len(p) {
		return d.fault(o.URL, unexpected(err))
	}
	return nil
}

func (d *Dir) Fetch(ctx context.Context, o Object, into File, progress func(n int64)) error {
	f, err := d.Open(o.URL)
	if err != nil {
		return err
	}
	defer f.Close()
	return CopyBlocks(ctx, io.NewOffsetWriter(into, 0), f, o.Size, progress)
}

// CopyBlocks copies size bytes in blocks of up to 4 MiB. It stops when ctx is done, with its cause. progress, which may
// be nil, is called with the number of bytes of each block.
func CopyBlocks(ctx context.Context, to io.Writer, from io.ReaderAt, size int64, progress func(n int64)) error {
	buf := make([]byte, min(dirBlock, size))
	for off := int64(0); off < size; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p := buf[:min(int64(len(buf)), size-off)]
		if n, err := from.ReadAt(p, off); n < len(p) {
			return fmt.Errorf("at offset %d: %w", off+int64(n), unexpected(err))
		}
		if _, err := to.Write(p); err != nil {
			return err
		}
		off += int64(len(p))
		if progress != nil {
			progress(int64(len(p)))
		}
	}
	return nil
}

// Put writes a file under its name with .tmp appended, syncs it, and renames it.
func (d *Dir) Put(ctx context.Context, u *Upload) (Object, error) {
	if err := d.Root.MkdirAll(path.Dir(u.URL), 0o755); err != nil {
		return Object{}, d.fault(u.URL, err)
	}
	w, err := files.Create(d.Root, u.URL+".tmp")
	if err != nil {
		return Object{}, d.fault(u.URL, err)
	}
	defer w.Discard()
	commit := w.Replace
	if u.New {
		commit = w.Commit
	}
	if err = CopyBlocks(ctx, w, u.From, u.Size, u.Progress); err == nil {
		err = w.Sync()
	}
	if err == nil {
		err = commit(u.URL)
	}
	if errors.Is(err, fs.ErrExist) {
		return Object{}, exists(filepath.Join(d.Root.Name(), u.URL))
	}
	if err == nil {
		err = files.SyncDir(d.Root, path.Dir(u.URL))
	}
	if err != nil {
		return Object{}, d.fault(u.URL, err)
	}
	return d.Stat(ctx, u.URL)
}

func (d *Dir) Remove(_ context.Context, o Object) error {
	if err := d.Root.Remove(o.URL); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d.fault(o.URL, err)
	}
	return nil
}
