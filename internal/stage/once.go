package stage

import (
	"cmp"
	"context"
	"io"

	"github.com/ffconvert/ffconvert/internal/input"
)

// openOnce begins to read an input that cannot be looked at twice. Its reader ends when
// ctx does; done must be called in any case, and ends what still runs.
func openOnce(ctx context.Context, n input.Name, opts Options) (r io.Reader, done func(), err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, nil, err
	}
	if n.IsStdin() {
		r, done = opts.OpenStdin(ctx)
		return r, done, nil
	}
	guard := ""
	if opts.Guarded {
		guard = self()
	}
	p, err := start(n.Command, n.Name, cmp.Or(opts.grace, commandGrace), guard, nil)
	if err != nil {
		return nil, nil, err
	}
	r, letGo := input.CancelableReader(ctx, p)
	return r, func() { letGo(); p.stop() }, nil
}
