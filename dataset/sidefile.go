package dataset

import (
	"bufio"
	"context"
	"errors"
	"hash/crc32"
	"io"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/verify"
)

// writeBeside makes the file name of what write gives it, by way of the temporary name tmp: the file
// is synced, read back as shards are, and compared, before it replaces an existing file.
func (o *Output) writeBeside(tmp, name string, write func(io.Writer) error) error {
	f, err := atomicfile.Create(o.Root, tmp)
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
	_, err = o.ReadBack(context.Background(), r, tmp, name, sum.FileSum, verify.Options{})
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	return f.Replace(name)
}

// ReadBack reads a synced file under its temporary name, and compares it with the sum of its writing.
func (o *Output) ReadBack(ctx context.Context, r *aio.Reader, tmp, name string, want FileSum, opts verify.Options) (verify.Result, error) {
	res, err := verify.SumFile(ctx, r, o.Root, verify.Sum{Name: tmp, Bytes: want.Bytes, CRC: want.CRC}, opts)
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
