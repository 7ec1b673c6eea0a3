package dataset

import (
	"bufio"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"os"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/internal/blocking"
	"github.com/ffconvert/ffconvert/verify"
)

// writeBeside makes the file name of what write gives it, by way of the temporary name tmp: the file
// is synced, read back as shards are, and compared, before it replaces an existing file.
func (d *Dir) writeBeside(tmp, name string, write func(io.Writer) error) error {
	f, err := atomicfile.Create(d.Root, tmp)
	if err != nil {
		return err
	}
	defer f.Discard()
	sum := sumWriter{to: f}
	w := bufio.NewWriterSize(&sum, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := errors.Join(w.Flush(), f.Sync()); err != nil {
		return err
	}
	r, err := aio.NewReader(aio.Options{Backend: aio.Pread, Depth: 2})
	if err != nil {
		return err
	}
	_, err = d.ReadBack(context.Background(), r, tmp, name, sum.FileSum, verify.Options{})
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	return f.Replace(name)
}

// WriteFile makes a file of data. It is synced and read back before it takes the place of an existing file.
func (d *Dir) WriteFile(name string, data []byte) error {
	if err := d.Mkdir(d.Temp("")); err != nil {
		return err
	}
	return d.writeBeside(d.Temp(name), name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// ReadBack reads a synced file under its temporary name, and compares it with the sum of its writing.
func (d *Dir) ReadBack(ctx context.Context, r *aio.Reader, tmp, name string, want FileSum, opts verify.Options) (verify.Result, error) {
	res, err := verify.SumFile(ctx, r, d.Root, verify.Sum{Name: tmp, Bytes: want.Bytes, CRC: want.CRC}, opts)
	if err != nil {
		return res, err
	}
	for i := range res.Problems {
		res.Problems[i].Shard = name
	}
	return res, res.Err()
}

// A sumWriter sums up the bytes that it passes on.
type sumWriter struct {
	to io.Writer
	FileSum
}

func (w *sumWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.Bytes += int64(n)
	w.CRC = crc32.Update(w.CRC, crc32.IEEETable, p[:n])
	return n, err
}

// hasIndex reports whether the index of a finished shard is there, byte for byte.
func (o *Output) hasIndex(f Finished) (bool, error) {
	file, err := openKept(o.Root, IndexName(f.Name))
	if err != nil {
		return false, unknown(err)
	}
	defer file.Close()
	sum := sumWriter{to: io.Discard}
	if _, err := io.CopyBuffer(&sum, io.LimitReader(file, f.Index.Bytes+1), make([]byte, 1<<18)); err != nil {
		return false, err
	}
	return sum.FileSum.is(f.Index), nil
}

// Unnamed opens a new file in a scratch directory, which it makes where there is none. The file has no name: nothing of it is left
// once it is closed, or its process has ended.
func Unnamed(dir string) (*os.File, error) {
	if err := makeDir(dir); err != nil {
		return nil, scratchFault(dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, scratchFault(dir, err)
	}
	defer root.Close()
	name := "copy-" + NewToken()
	f, err := blocking.File(root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600))
	if err != nil {
		return nil, scratchFault(dir, err)
	}
	if err := root.Remove(name); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
