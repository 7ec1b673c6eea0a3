package stage

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/internal/cache"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/input"
)

// byHand copies an object from a file that the user has put into the cache directory under the base name of its URL, which
// is how webdataset's cache names files. It returns false unless the file has the size and the checksum, if any, that the
// service gives: then the object must be fetched.
func (j *job) byHand(ctx context.Context, w *cache.Lease) (bool, error) {
	o := j.source.Object
	base := input.BaseName(o.URL)
	if o.Size < 0 || base == "" || cache.Named(base) {
		return false, nil
	}
	name := filepath.Join(j.cache.Dir, base)
	if fi, err := os.Stat(name); err != nil || !fi.Mode().IsRegular() || fi.Size() != o.Size {
		return false, nil
	}
	f, err := files.Open(name)
	if err != nil {
		return false, nil
	}
	defer f.Close()
	in := &source{ctx: ctx, r: io.LimitReader(f, o.Size), progress: j.progress}
	into, sum := io.Writer(io.NewOffsetWriter(w, 0)), o.Sum.NewHash()
	if sum != nil {
		into = io.MultiWriter(into, sum)
	}
	_, err = io.CopyBuffer(into, in, make([]byte, copySize))
	switch {
	case context.Cause(ctx) != nil:
		return false, context.Cause(ctx)
	case err != nil && in.err == nil:
		return false, j.cacheError(err)
	case err != nil || in.n != o.Size || sum != nil && hex.EncodeToString(sum.Sum(nil)) != o.Sum.Value:
		j.rewind()
		return false, nil
	}
	j.opts.verbose("# opening %s", name)
	return true, nil
}

// verbose formats a line and passes it to Options.Verbose.
func (o Options) verbose(format string, args ...any) { o.Verbose(fmt.Sprintf(format, args...)) }
