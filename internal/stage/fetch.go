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

// fetch copies an object to the cache, and decompresses it into a second writer, so that the cache
// keeps a decompressed copy only after its last trailer was checked. It returns the writer to commit,
// and the size of the object, bytes.
func (j *job) fetch(ctx context.Context, w *cache.Writer) (whole *cache.Writer, size int64, err error) {
	name := j.source.Name
	if !j.fetched {
		if err := j.fetchSound(ctx, w); err != nil {
			return nil, 0, err
		}
		j.fetched = true
	}
	size = w.Size()
	head := make([]byte, min(sniffLen, size))
	if _, err := io.ReadFull(io.NewSectionReader(w, 0, size), head); err != nil && err != io.EOF {
		return nil, 0, j.cacheError(err)
	}
	if store.IsPage(name, head) {
		return nil, 0, place.Refuse(name, store.ErrPage, "the URL leads to an error or a login; look at it in a browser", "")
	}
	if j.compression, err = sniff(head); err != nil {
		return nil, 0, sniffError(name, size, err, "the object is incomplete where it was made")
	}
	if j.compression == "" {
		return w, size, nil
	}
	out := w.Beside(j.id.key(j.compression))
	if err := j.unpack(ctx, w, out); err != nil {
		return nil, 0, out.Discard(err)
	}
	return out, size, nil
}

// refetches is how often an object is fetched again that is not sound.
const refetches = 2

// fetchSound is fetchTo, again while the object is not sound: maybe it was damaged on its way. One that stays so is for its reader
// to tell.
func (j *job) fetchSound(ctx context.Context, w *cache.Writer) error {
	err := j.fetchTo(ctx, w)
	if j.opts.Sound == nil || j.source.Object.Sum.NewHash() != nil {
		return err
	}
	for n := 0; err == nil && n < refetches && !j.opts.Sound(j.source.Name, w, w.Size()); n++ {
		j.mu.Lock()
		j.at = 0
		j.mu.Unlock()
		err = j.fetchTo(ctx, w)
	}
	return err
}

// fetchTo writes the object to w, from a file by its name in the cache directory or from its service.
func (j *job) fetchTo(ctx context.Context, w *cache.Writer) error {
	if j.fetching.Acquire(ctx, 1) != nil {
		return context.Cause(ctx)
	}
	j.fetches = true
	used, err := j.byHand(ctx, w)
	if !used && err == nil {
		j.sayFetch(w)
		err = j.fetchObject(ctx, *j.source.Object, j.source.Name, w, j.cacheError)
	}
	if want, got := j.source.Object.Size, w.Size(); err == nil && want >= 0 && got != want {
		err = place.Refuse(j.source.Name, input.ErrChanged, "", "%d of %d bytes were fetched", got, want)
	}
	if err == nil {
		j.hasFetched()
	}
	return err
}

// fetchObject writes an object to a file. fileError places an error of the file, which comes before what
// the client makes of it.
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
func (j *job) unpack(ctx context.Context, w, out *cache.Writer) error {
	if err := j.decode(ctx); err != nil {
		return err
	}
	f, err := w.Checked()
	if err != nil {
		return j.cacheError(err)
	}
	defer f.Close()
	silent := func(int64) {} // progress was reported when the bytes were fetched
	src := &source{ctx: ctx, r: io.NewSectionReader(f, 0, w.Size()), progress: silent, opts: j.opts}
	err = j.decompress(src, bufio.NewReaderSize(src, copySize), out)
	if src.err != nil && context.Cause(ctx) == nil { // of the copy, not of the object
		return j.cacheError(src.err)
	}
	if err == nil {
		j.decoded()
	}
	return err
}

// A fetched file keeps its first error, apart from the errors of the client.
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
