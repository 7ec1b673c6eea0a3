package input

import (
	"context"
	"io"
)

// An abandoner reads from a reader that may block forever, such as a terminal or the
// pipe of a process that hangs, and lets go of it when the context is cancelled. The
// goroutine that is then still reading owns its buffer and ends when its Read does.
type abandoner struct {
	ctx  context.Context
	want chan struct{}
	got  chan readResult // holds one, so that an abandoned goroutine can end
	rest []byte          // of the goroutine's buffer, ours until the next want
	err  error
}

type readResult struct {
	data []byte
	err  error
}

// newAbandoner starts the goroutine; stop lets it end.
func newAbandoner(ctx context.Context, r io.Reader) (a *abandoner, stop func()) {
	a = &abandoner{ctx: ctx, want: make(chan struct{}), got: make(chan readResult, 1)}
	go func() {
		buf := make([]byte, copySize)
		for range a.want {
			n, err := r.Read(buf)
			a.got <- readResult{buf[:n], err}
		}
	}()
	return a, func() { close(a.want) }
}

func (a *abandoner) Read(p []byte) (int, error) {
	if len(a.rest) == 0 {
		if a.err != nil {
			return 0, a.err
		}
		select {
		case <-a.ctx.Done():
			a.err = context.Cause(a.ctx)
			return 0, a.err
		case a.want <- struct{}{}:
		}
		select {
		case <-a.ctx.Done():
			a.err = context.Cause(a.ctx)
			return 0, a.err
		case r := <-a.got:
			a.rest, a.err = r.data, r.err
		}
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	if n == 0 {
		return 0, a.err
	}
	return n, nil
}
