package stage

import (
	"context"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/internal/blocking"
	"github.com/ffconvert/ffconvert/internal/cache"
	"github.com/ffconvert/ffconvert/internal/input"
)

// byHand copies an object from a file in the cache directory that has the base name of its URL, as webdataset's cache names files.
// It returns false, and the object must be fetched, unless the file has the size that the service says, and the checksum
// if the service has one.
func (j *job) byHand(ctx context.Context, w *cache.Lease) (bool, error) {
	o := j.source.Object
	base := input.BaseName(o.URL)
	if j.opts.Transient || o.Size < 0 || base == "" || cache.Named(base) {
		return false, nil
	}
	name := filepath.Join(j.c.Dir(), base)
	if fi, err := os.Stat(name); err != nil || !fi.Mode().IsRegular() || fi.Size() != o.Size {
		return false, nil
	}
	f, err := blocking.Open(name)
	if err != nil {
		return false, nil
	}
	defer f.Close()
	into := &writerAt{ctx: ctx, w: w, progress: j.progress, sum: o.Sum.NewHash()}
	n, err := io.CopyBuffer(into, io.LimitReader(f, o.Size), make([]byte, copySize))
	switch {
	case context.Cause(ctx) != nil:
		return false, context.Cause(ctx)
	case into.err != nil:
		return false, j.cacheError(into.err)
	case err != nil || n != o.Size || into.sum != nil && hex.EncodeToString(into.sum.Sum(nil)) != o.Sum.Value:
		j.rewind()
		return false, nil
	}
	j.opts.say("# opening %s", name)
	return true, nil
}

// A writerAt writes to a copy from its start.
type writerAt struct {
	ctx      context.Context
	w        *cache.Lease
	off      int64
	progress func(int64)
	sum      hash.Hash // nil: none
	err      error     // of w
}

func (w *writerAt) Write(p []byte) (int, error) {
	if err := context.Cause(w.ctx); err != nil {
		return 0, err
	}
	n, err := w.w.WriteAt(p, w.off)
	w.off += int64(n)
	w.progress(int64(n))
	if w.sum != nil {
		w.sum.Write(p[:n])
	}
	w.err = err
	return n, err
}

// say tells Options.Verbose a line.
func (o Options) say(format string, args ...any) {
	if o.Verbose != nil {
		o.Verbose(fmt.Sprintf(format, args...))
	}
}

// sayFetch tells that an object is fetched into w.
func (j *job) sayFetch(w *cache.Lease) {
	j.opts.say("# downloading %s to %s", input.Shown(j.source.Name), w.Path())
}
