package lookup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/sidecar"
	"github.com/ffconvert/ffconvert/record"
)

var errNotRegular = place.New(place.Refused, "not a regular file")

// open opens a shard or an index, which must be a regular file unless o.Open knows better. [Options.openOf] places its error.
func (o *Options) open(path string) (dataset.File, int64, error) {
	if o.Open != nil {
		return o.Open(strings.TrimPrefix(path, o.URL+"/"))
	}
	st, err := os.Stat(path)
	if err == nil && !st.Mode().IsRegular() {
		return nil, 0, errNotRegular
	}
	if err != nil {
		return nil, 0, err
	}
	f, err := files.Blocking(os.Open(path))
	if err != nil {
		return nil, 0, err
	}
	if st, err = f.Stat(); err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, st.Size(), nil
}

// openOf opens the shard s or its index. A file that its manifest names and that is not there is [dataset.ErrMissing].
func (o *Options) openOf(s *shard, path string) (dataset.File, int64, error) {
	f, size, err := o.open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.samples >= 0:
		err = &place.Error{Where: path, Off: -1, Err: dataset.ErrMissing, Hint: "ffconvert repair " + cmp.Or(o.URL, filepath.Dir(s.path))}
	case err != nil:
		err = place.IOError(path, err)
	}
	return f, size, err
}

// Whole looks whether all shards that the manifest names are there: their indexes alone tell what samples they have. One that is
// missing is [dataset.ErrMissing].
func (d *Dataset) Whole() error {
	var g errgroup.Group
	g.SetLimit(searchers)
	missing := make([]error, len(d.shards))
	for i := range d.shards {
		g.Go(func() error {
			f, _, err := d.opts.openOf(&d.shards[i], d.shards[i].path)
			if err == nil {
				f.Close()
			}
			missing[i] = err
			return nil
		})
	}
	g.Wait()
	return cmp.Or(missing...)
}

// openShard opens a shard and reads its head, by which info describes it.
func (o *Options) openShard(s *shard) (f dataset.File, info record.FileInfo, err error) {
	err = o.sound(func(bool) error {
		f, info, err = o.openShardOnce(s)
		return err
	})
	return f, info, err
}

func (o *Options) openShardOnce(s *shard) (dataset.File, record.FileInfo, error) {
	f, size, err := o.openOf(s, s.path)
	if err != nil {
		return nil, record.FileInfo{}, err
	}
	info, err := record.ReadHead(f, s.path, size, o.Record)
	if err == nil && s.samples >= 0 && (info.Samples != s.samples || info.HeaderCRC != s.headerCRC) {
		err = &record.FormatError{Path: s.path, Sample: -1, Off: 0, Err: fmt.Errorf("%w: %d samples with the header checksum %08x, by its manifest %d with %08x",
			record.ErrHeader, info.Samples, info.HeaderCRC, s.samples, s.headerCRC)}
	}
	if err != nil {
		f.Close()
		return nil, info, err
	}
	return f, info, nil
}

// An index is the open index of a shard.
type index struct {
	path string
	file dataset.File
	rows *sidecar.Reader
	want dataset.FileSum
}

// openIndex opens the index of a shard.
func (o *Options) openIndex(s *shard) (*index, error) {
	f, size, err := o.openOf(s, s.index)
	if err != nil {
		return nil, err
	}
	x := &index{path: s.index, file: f, want: s.sum}
	if size != s.sum.Bytes {
		err = fmt.Errorf("%w: it has %d bytes, %d by the manifest", sidecar.ErrMalformed, size, s.sum.Bytes)
	} else {
		x.rows, err = sidecar.Open(f, size)
	}
	if err != nil {
		f.Close()
		return nil, x.fail(err)
	}
	return x, nil
}

func (x *index) close() { x.file.Close() }

// fail places an error in the index.
func (x *index) fail(err error) error { return place.IOError(x.path, err) }

// check compares the index with its CRC. It ends with ctx.
func (x *index) check(ctx context.Context) error {
	sum, in, buf := crc32.NewIEEE(), io.NewSectionReader(x.file, 0, x.want.Bytes), make([]byte, min(x.want.Bytes, 256<<10))
	for ctx.Err() == nil {
		n, err := in.Read(buf)
		sum.Write(buf[:n])
		if err == io.EOF {
			break
		}
		if err != nil {
			return x.fail(err)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if sum.Sum32() != x.want.CRC {
		return x.fail(fmt.Errorf("%w: its CRC-32 is %08x, %08x by the manifest", sidecar.ErrMalformed, sum.Sum32(), x.want.CRC))
	}
	return nil
}
