package stage

import (
	"bufio"
	"context"
	"io"
	"sync"

	"github.com/ffconvert/ffconvert/internal/cache"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
)

// fetch copies an object to the cache. It decompresses a compressed object into a second copy, which replaces
// the first after its last trailer is verified.
func (j *job) fetch(ctx context.Context) error {
	name, w := j.source.Name, j.lease
	if err := j.fetchSound(ctx, w); err != nil {
		return err
	}
	size := w.Size()
	head := make([]byte, min(sniffLen, size))
	if _, err := io.ReadFull(io.NewSectionReader(w, 0, size), head); err != nil && err != io.EOF {
		return j.cacheError(err)
	}
	if store.IsPage(name, head) {
		return place.Refuse(name, store.ErrPage, "the URL leads to an error or a login; look at it in a browser", "")
	}
	var err error
	if j.compression, err = sniff(head); err != nil {
		return sniffError(name, size, err, "the object is incomplete where it was made")
	}
	if j.compression == "" {
		return nil
	}
	out, err := w.Split(j.id.key(j.compression))
	if err != nil {
		return j.release(out, j.cacheError(err))
	}
	if err := j.unpack(ctx, w, out); err != nil {
		return j.release(out, err)
	}
	j.lease = out
	if err := w.Release(); err != nil {
		return j.cacheError(err)
	}
	return nil
}

// refetches is how often an object is fetched again if Options.Sound returns false.
const refetches = 2

// fetchSound calls fetchTo, and again if Options.Sound returns false: the transport may have damaged the object. If it
// stays so there is no error here: the converter reports it. Objects with a checksum are not examined.
func (j *job) fetchSound(ctx context.Context, w *cache.Lease) error {
	err := j.fetchTo(ctx, w)
	if j.opts.Sound == nil || j.source.Object.Sum.NewHash() != nil {
		return err
	}
	for n := 0; err == nil && n < refetches && !j.opts.Sound(j.source.Name, w, w.Size()); n++ {
		j.rewind()
		err = j.fetchTo(ctx, w)
	}
	return err
}

// fetchTo writes the object to w, from a file in the cache directory (see byHand) or from its service.
func (j *job) fetchTo(ctx context.Context, w *cache.Lease) error {
	used, err := j.byHand(ctx, w)
	if !used && err == nil {
		j.opts.verbose("# downloading %s to %s", input.Shown(j.source.Name), w.Path())
		err = j.fetchObject(ctx, *j.source.Object, j.source.Name, w, j.cacheError)
	}
	if want, got := j.source.Object.Size, w.Size(); err == nil && want >= 0 && got != want {
		err = place.Refuse(j.source.Name, input.ErrChanged, "", "%d of %d bytes were fetched", got, want)
	}
	return err
}

// fetchObject writes an object to a file. It passes an error of the file to fileError and ignores the error that the client
// makes of it.
func (j *job) fetchObject(ctx context.Context, o store.Object, name string, file store.File, fileError func(error) error) error {
	into := &fetched{File: file}
	err := j.opts.Remote.Fetch(ctx, o, into, j.progress)
	switch {
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case into.failure() != nil:
		return fileError(into.failure())
	case err != nil:
		return input.RemoteError(name, err)
	}
	return nil
}

// unpack decompresses the fetched object in w into out.
func (j *job) unpack(ctx context.Context, w, out *cache.Lease) error {
	if j.decoding.Acquire(ctx, 1) != nil {
		return context.Cause(ctx)
	}
	defer j.decoding.Release(1)
	f, err := w.Checked()
	if err != nil {
		return j.cacheError(err)
	}
	defer f.Close()
	silent := func(int64) {} // fetchTo has reported progress
	src := &source{ctx: ctx, r: io.NewSectionReader(f, 0, w.Size()), progress: silent}
	err = j.decompress(src, bufio.NewReaderSize(src, copySize), out)
	if src.err != nil && context.Cause(ctx) == nil { // an error of reading the copy
		return j.cacheError(src.err)
	}
	return err
}

// A fetched file records its first error, so that it is not taken for an error of the client.
type fetched struct {
	store.File
	mu  sync.Mutex
	err error
}

func (f *fetched) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	f.note(err)
	return n, err
}

func (f *fetched) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	if err != io.EOF {
		f.note(err)
	}
	return n, err
}

func (f *fetched) note(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

func (f *fetched) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
