package bucket

import (
	"context"
	"io"

	"github.com/ffconvert/ffconvert/input/remote"
)

// An object is read by ranges.
type object struct {
	ctx    context.Context
	client Client
	o      remote.Object
}

func (o *object) ReadAt(p []byte, off int64) (int, error) {
	n := int(max(0, min(int64(len(p)), o.o.Size-off)))
	if n > 0 {
		if err := o.client.Read(o.ctx, o.o, p[:n], off); err != nil {
			return 0, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
