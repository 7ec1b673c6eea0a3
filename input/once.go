package input

import (
	"cmp"
	"context"
	"io"
)

// once tells an input that cannot be looked at twice, or whose size nothing tells. It is staged
// whatever it holds, once a run, and since it need not be the same again, its copy serves that run.
func (n Name) once() bool {
	return n.Command != nil || n.isStdin() || n.Object != nil && n.Object.Size < 0
}

// repeats reports whether an input can be begun again.
func (n Name) repeats() bool { return n.Command == nil && !n.isStdin() }

// bytes is the size of a source; -1: not known.
func (n Name) bytes() int64 {
	if n.Object != nil {
		return n.Object.Size
	}
	return n.Size
}

func (n Name) isStdin() bool { return n.Command == nil && n.Object == nil && n.Name == "-" }

// openOnce begins to read an input that cannot be looked at twice. Its reader ends when
// ctx does; done must be called in any case, and ends what still runs.
func (n Name) openOnce(ctx context.Context, opts Options) (r io.Reader, done func(), err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, nil, err
	}
	if n.isStdin() {
		r, done = newCancelableReader(ctx, opts.stdin())
		return r, done, nil
	}
	guard := ""
	if opts.Guarded {
		guard = self()
	}
	p, err := n.Command.start(n.Name, cmp.Or(opts.grace, commandGrace), guard)
	if err != nil {
		return nil, nil, err
	}
	r, letGo := newCancelableReader(ctx, p)
	return r, func() { letGo(); p.stop() }, nil
}

// A cancelableReader reads from a reader that may block forever, such as a terminal or the
// pipe of a process that hangs, and lets go of it when the context is cancelled. The
// goroutine that is then still reading owns its buffer and ends when its Read does.
type cancelableReader struct {
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

// newCancelableReader starts the goroutine; stop lets it end.
func newCancelableReader(ctx context.Context, r io.Reader) (a *cancelableReader, stop func()) {
	a = &cancelableReader{ctx: ctx, want: make(chan struct{}), got: make(chan readResult, 1)}
	go func() {
		buf := make([]byte, copySize)
		for range a.want {
			n, err := r.Read(buf)
			a.got <- readResult{buf[:n], err}
		}
	}()
	return a, func() { close(a.want) }
}

func (a *cancelableReader) Read(p []byte) (int, error) {
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
