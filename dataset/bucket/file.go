package bucket

import (
	"context"
	"io"
	"io/fs"
	"strings"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/store"
)

// Open implements [dataset.Bucket]. A shard is read by ranges, a few requests per sample. An index is downloaded whole: it
// is small, and is read at many offsets.
func (r *mirror) Open(name string) (dataset.File, int64, error) {
	o, ok := r.sized(r.ctx, name)
	if !ok {
		return nil, 0, &fs.PathError{Op: "open", Path: r.url + name, Err: fs.ErrNotExist}
	}
	if !strings.HasPrefix(name, dataset.IndexDir+"/") {
		return opened{r.read(o), func() error { return nil }}, o.Size, nil
	}
	done, err := r.Fetch(r.ctx, name)
	if err != nil {
		return nil, 0, err
	}
	f, err := r.out.Root.Open(name)
	if err != nil {
		done()
		return nil, 0, err
	}
	return opened{f, func() error { defer done(); return f.Close() }}, o.Size, nil
}

// sized returns an object of the listing. If its size differs from the manifest, sized looks the object up again: the
// listing may be wrong, and with a wrong size all bytes look damaged.
func (r *mirror) sized(ctx context.Context, name string) (store.Object, bool) {
	o, ok := r.objects.Object(name)
	m, err := r.out.Manifest()
	if !ok || err != nil || m == nil {
		return o, ok
	}
	for i := range m.Shards {
		s := &m.Shards[i]
		if name == s.Name && o.Size != s.Bytes || name == dataset.IndexName(s.Name) && o.Size != s.Index.Bytes {
			if now, err := r.objects.Stat(ctx, r.url+name); err == nil {
				r.objects.Enter(name, now)
				return now, true
			}
		}
	}
	return o, ok
}

// An opened object is read by ranges, or from a downloaded file, which close removes.
type opened struct {
	io.ReaderAt
	close func() error
}

func (o opened) Close() error { return o.close() }
