package bucket

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/store"
)

// Open implements [dataset.Bucket]. A shard is read by ranges, a few requests per sample. An index is small and read at
// many offsets: it is downloaded whole when it is first opened, and kept while the scratch has room.
func (r *mirror) Open(name string) (dataset.File, int64, error) {
	if sum, named := r.sums()[name]; named && strings.HasPrefix(name, dataset.IndexDir+"/") {
		f, close, err := r.openIndex(name, sum)
		if err != nil {
			return nil, 0, err
		}
		return opened{f, close}, sum.Bytes, nil
	}
	o, err := r.find(r.ctx, name)
	if err != nil {
		return nil, 0, err
	}
	return opened{r.read(o), func() error { return nil }}, o.Size, nil
}

// An opened object is read by ranges, or from a downloaded file.
type opened struct {
	io.ReaderAt
	close func() error
}

func (o opened) Close() error { return o.close() }

// readSums returns the sizes of the shards and the sums of the indexes that the manifest names; none without a sound manifest.
func (r *mirror) readSums() map[string]dataset.FileSum {
	sums := map[string]dataset.FileSum{}
	if m, err := r.out.Manifest(); err == nil && m != nil {
		for i := range m.Shards {
			s := &m.Shards[i]
			sums[s.Name] = dataset.FileSum{Bytes: s.Bytes}
			sums[dataset.IndexName(s.Name)] = s.Index
		}
	}
	return sums
}

// find returns a known object. It looks up what the manifest names if that was not listed, or has another size: a listing
// may be wrong, and with a wrong size all bytes look damaged. The error is fs.ErrNotExist if it is not there.
func (r *mirror) find(ctx context.Context, name string) (store.Object, error) {
	o, known := r.objects.Object(name)
	if sum, named := r.sums()[name]; named && (known && o.Size != sum.Bytes || !known && !r.listed) {
		now, err := store.Find(ctx, r.objects, r.url+name)
		if err == nil {
			r.objects.Enter(name, now)
			return now, nil
		}
		if !known && !errors.Is(err, store.ErrNotFound) {
			return o, err
		}
	}
	if !known {
		return o, &fs.PathError{Op: "open", Path: store.Redact(r.url + name), Err: fs.ErrNotExist}
	}
	return o, nil
}
