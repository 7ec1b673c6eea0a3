package stage

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
)

// treeFetches is the number of files of a tree that are written concurrently. The client limits the connections.
const treeFetches = 64

// download fetches the objects of a tree to a directory in the room of the lease. The directory serves one run: a later
// run could not verify it.
func (j *job) download(ctx context.Context) error {
	tree := j.source.Tree
	root, dir, err := j.lease.Tree()
	if err != nil {
		return j.cacheError(err)
	}
	defer root.Close()
	sums := &treeSums{tree, make([]uint64, tree.Files), j.cache.Dir}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(treeFetches)
	made := "."
	for i := range tree.Files {
		if gctx.Err() != nil {
			break
		}
		if in := path.Dir(tree.Path(i)); in != made {
			err := j.opts.fault("mkdir")
			if err == nil {
				err = root.MkdirAll(filepath.FromSlash(in), 0o700)
			}
			if err != nil {
				g.Go(func() error { return treeError(tree.Object(i), sums.dir, err) })
				break
			}
			made = in
		}
		g.Go(func() error { return j.fetchInto(gctx, root, i, &sums.files[i]) })
	}
	err = g.Wait()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err != nil {
		return err
	}
	j.part = converters.Part{Name: j.source.Name, Path: dir, Copy: &converters.Copy{Files: sums}}
	return nil
}

// fetchInto fetches file i of the tree, sets the modification time of the list, and stores its checksum in sum.
func (j *job) fetchInto(ctx context.Context, root *os.Root, i int, sum *uint64) error {
	tree, dir, opts := j.source.Tree, j.cache.Dir, j.opts
	o, name := tree.Object(i), filepath.FromSlash(tree.Path(i))
	err := opts.fault("create")
	if err != nil {
		return treeError(o, dir, err)
	}
	f, err := files.Blocking(root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600))
	if err != nil {
		return treeError(o, dir, err)
	}
	w := &treeWriter{File: f, of: o, opts: opts}
	err = j.fetchObject(ctx, o, input.Shown(o.URL), w, func(err error) error { return treeError(o, dir, err) })
	if err == nil {
		*sum, err = w.finish(dir)
	}
	if cerr := f.Close(); err == nil && cerr != nil {
		err = treeError(o, dir, cerr)
	}
	if err != nil {
		return err
	}
	if err = opts.fault("chtimes"); err == nil {
		at := tree.ModTime(i)
		err = root.Chtimes(name, at, at)
	}
	if err != nil {
		return treeError(o, dir, err)
	}
	return nil
}

// finish compares the size of the file with the list, and returns its checksum.
func (w *treeWriter) finish(dir string) (sum uint64, err error) {
	fi, err := w.Stat()
	if err == nil {
		err = w.opts.fault("close")
	}
	switch {
	case err != nil:
		return 0, treeError(w.of, dir, err)
	case fi.Size() != w.of.Size:
		return 0, place.Refuse(input.Shown(w.of.URL), input.ErrChanged, "", "%d of %d bytes were fetched", fi.Size(), w.of.Size)
	}
	sums, err := w.rec.Sums(w.of.Size, w)
	if err != nil {
		return 0, treeError(w.of, dir, err)
	}
	return sums.Sum64(), nil
}

// treeError adds the object to an error of staging it as a file of a tree in dir.
func treeError(o store.Object, dir string, err error) error {
	name := input.Shown(o.URL)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTDIR) {
		return place.Refuse(name, input.ErrKey, "rename it, or give an option cache-dir on another file system", "another object has that path where letters are not told apart")
	}
	return cacheError(name, dir, err)
}

// A treeWriter is a file that refuses writes beyond its listed size, and records checksums of the others.
type treeWriter struct {
	*os.File
	of   store.Object
	opts Options

	mu  sync.Mutex
	rec checksum.Recorder
}

func (w *treeWriter) WriteAt(p []byte, off int64) (int, error) {
	if off > w.of.Size || int64(len(p)) > w.of.Size-off {
		return 0, place.Refuse(input.Shown(w.of.URL), input.ErrChanged, "", "more than the %d bytes that were listed", w.of.Size)
	}
	if err := w.opts.fault("write"); err != nil {
		return 0, err
	}
	n, err := w.File.WriteAt(p, off)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rec.Wrote(p[:n], off)
	return n, err
}
