package input

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"
	"sync"

	"github.com/ffconvert/ffconvert/input/cache"
	"github.com/ffconvert/ffconvert/input/remote"
)

// fetch copies an object to the cache as it is, and then, where it is compressed, what it
// decompresses to: into a draft beside, so that nothing of it is kept before its last trailer was
// read. What is whole is one of the two; the object has size bytes.
func (j *job) fetch(ctx context.Context, c *cache.Cache, d *cache.Draft, opts Options) (whole *cache.Draft, size int64, err error) {
	name := j.source.Name
	if err := j.fetching.take(ctx, d); err != nil {
		return nil, 0, err
	}
	into := &fetched{File: d}
	err = opts.Remote.Fetch(ctx, *j.source.Object, into, func(n int64) { j.progress(opts, n) })
	j.fetching.give()
	switch {
	case context.Cause(ctx) != nil:
		return nil, 0, context.Cause(ctx)
	case into.failure() != nil: // whatever the client made of it
		return nil, 0, cacheError(name, c.Dir(), into.failure())
	case err != nil:
		return nil, 0, remoteError(name, err)
	}
	if size = d.Size(); j.source.Object.Size >= 0 && size != j.source.Object.Size {
		return nil, 0, refuse(name, ErrChanged, "", "%d of %d bytes were fetched", size, j.source.Object.Size)
	}
	head := make([]byte, min(sniffLen, size))
	if _, err := io.ReadFull(io.NewSectionReader(d, 0, size), head); err != nil && err != io.EOF {
		return nil, 0, cacheError(name, c.Dir(), err)
	}
	if isPage(name, head) {
		return nil, 0, refuse(name, remote.ErrPage, "the URL leads to an error or a login; look at it in a browser", "")
	}
	if j.compression, err = sniff(head); err != nil {
		return nil, 0, sniffError(name, size, err, "the object is incomplete where it was made")
	}
	if j.compression == "" {
		return d, size, nil
	}
	out := d.Beside(j.id.key(j.compression))
	if err := j.unpack(ctx, c, d, out, opts); err != nil {
		j.grown(out, err)
		return nil, 0, err
	}
	return out, size, nil
}

// unpack decompresses what was fetched.
func (j *job) unpack(ctx context.Context, c *cache.Cache, d, out *cache.Draft, opts Options) error {
	if err := j.decoding.take(ctx, d); err != nil {
		return err
	}
	defer j.decoding.give()
	f, err := d.Checked()
	if err != nil {
		return cacheError(j.source.Name, c.Dir(), err)
	}
	defer f.Close()
	silent := func(int64) {} // it was told when these bytes came
	src := &source{ctx: ctx, r: io.NewSectionReader(f, 0, d.Size()), progress: silent, opts: opts}
	err = j.decompress(src, bufio.NewReaderSize(src, copySize), c, out)
	if src.err != nil && context.Cause(ctx) == nil { // of the copy, not of the object
		return cacheError(j.source.Name, c.Dir(), src.err)
	}
	return err
}

// A fetched file remembers why it could not be written or read.
type fetched struct {
	remote.File
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

// isPage tells an HTML page from data: services answer with one where they want a login, and
// with status 200.
func isPage(name string, head []byte) bool {
	lower := strings.ToLower(name)
	if strings.HasSuffix(lower, ".html") || strings.HasSuffix(lower, ".htm") {
		return false
	}
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	for _, start := range []string{"<!doctype html", "<html"} {
		if len(head) >= len(start) && strings.EqualFold(string(head[:len(start)]), start) {
			return true
		}
	}
	return false
}
