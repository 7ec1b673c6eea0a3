package remote

import (
	"context"
	"io"
)

// ReadAt returns an object for reading by ranges: each ReadAt is a request of c, such as a [Client]. It may be called
// concurrently, as long as ctx is not done.
func ReadAt(ctx context.Context, c interface {
	Read(ctx context.Context, o Object, p []byte, off int64) error
}, o Object) io.ReaderAt {
	return readerAt(func(p []byte, off int64) (int, error) {
		n := int(max(0, min(int64(len(p)), o.Size-off)))
		if n > 0 {
			if err := c.Read(ctx, o, p[:n], off); err != nil {
				return 0, err
			}
		}
		if n < len(p) {
			return n, io.EOF
		}
		return n, nil
	})
}

type readerAt func(p []byte, off int64) (int, error)

func (f readerAt) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }
