package bucket

import (
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/ffconvert/ffconvert/dataset"
)

// Open implements [dataset.Bucket]. A shard is read by ranges: a sample of it takes a few requests. Indexes are small, and
// read in many places: one is fetched whole.
func (b *bucket) Open(name string) (dataset.File, int64, error) {
	o, ok := b.object(name)
	if !ok {
		return nil, 0, &fs.PathError{Op: "open", Path: b.at(name), Err: fs.ErrNotExist}
	}
	if !strings.HasPrefix(name, dataset.IndexDir+"/") {
		return ranges{b.read(o)}, o.Size, nil
	}
	done, err := b.Fetch(b.ctx, name)
	if err != nil {
		return nil, 0, err
	}
	f, err := b.out.Root.Open(name)
	if err != nil {
		done()
		return nil, 0, err
	}
	return &fetched{f, done}, o.Size, nil
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
