package bucket

import (
	"context"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/store"
)

// Open implements [dataset.Bucket]. A shard is read by ranges: a sample of it takes a few requests. Indexes are small, and
// read in many places: one is fetched whole.
func (r *mirror) Open(name string) (dataset.File, int64, error) {
	if name == dataset.KeysName { // no manifest names it, and a list may lack it
		if err := r.there.Ask(r.ctx, []string{name}); err != nil {
			return nil, 0, err
		}
	}
	o, ok := r.sized(r.ctx, name)
	if !ok {
		return nil, 0, &fs.PathError{Op: "open", Path: r.url + name, Err: fs.ErrNotExist}
	}
	if !strings.HasPrefix(name, dataset.IndexDir+"/") {
		return ranges{r.read(o)}, o.Size, nil
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
	return &fetched{f, done}, o.Size, nil
}

// sized is object, of which the service is asked once more where its size is not the one that the manifest says: the listing
// may have been damaged on its way, and all bytes that are read by a wrong size look damaged.
func (r *mirror) sized(ctx context.Context, name string) (store.Object, bool) {
	o, ok := r.there.Object(name)
	m, err := r.out.Manifest()
	if !ok || err != nil || m == nil {
		return o, ok
	}
	for i := range m.Shards {
		s := &m.Shards[i]
		if name == s.Name && o.Size != s.Bytes || name == dataset.IndexName(s.Name) && o.Size != s.Index.Bytes {
			if now, err := r.there.Stat(ctx, r.url+name); err == nil {
				r.there.Enter(name, now)
				return now, true
			}
		}
	}
	return o, ok
}

// A fetched file is removed when it is closed.
type fetched struct {
	*os.File
	done func()
}

func (f *fetched) Close() error {
	err := f.File.Close()
	f.done()
	return err
}

// Ranges are read of an object, which is not held open.
type ranges struct{ io.ReaderAt }

func (ranges) Close() error { return nil }
