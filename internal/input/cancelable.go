package input

import (
	"context"
	"io"
)

// CancelableReader returns a reader of what r has, which ends with the cause of ctx when that is
// cancelled, even while a Read of r is blocked, as of a terminal or of the pipe of a process that
// hangs. stop must be called. A goroutine reads r ahead by 256 KiB; it ends when r's Read returns.
func CancelableReader(ctx context.Context, r io.Reader) (cancelable io.Reader, stop func()) {
	out, in := io.Pipe()
	unwatch := context.AfterFunc(ctx, func() { in.CloseWithError(context.Cause(ctx)) })
	go func() {
		_, err := io.CopyBuffer(in, struct{ io.Reader }{r}, make([]byte, 256<<10))
		in.CloseWithError(err)
	}()
	return out, func() {
		unwatch()
		out.Close()
	}
}
