package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

const (
	firstWait = 100 * time.Millisecond // before the first retry; it doubles with each, with a jitter of half
	mostWait  = 30 * time.Second
)

// attempts decides whether a failed request is retried. It must not be used concurrently.
type attempts struct {
	opts  Options
	pace  *pace
	row   int  // consecutive failures without a received byte
	known bool // the service has replied before: an error of DNS may be temporary
	found bool // the object was seen before: "not found" or "changed" may be a wrong reply
	doubt int  // number of such replies

	small bool // the request transfers no bytes of an object: it does not count towards Options.Connections, and has no buffer
	// stop, which may be nil, is called with the error to report before the connection is free for another request, so
	// that no error of a later request is reported in its place.
	stop context.CancelCauseFunc
}

type onceKey struct{}

// Once returns a context that disables retries.
func Once(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

// decide returns how long to wait before a retry, or the error to report. err is the error of the attempt, brought
// whether the attempt received bytes.
func (a *attempts) decide(ctx context.Context, err error, brought bool) (time.Duration, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	e, ok := errors.AsType[*Error](err)
	doubt := ok && !e.Again && a.found && e.doubtful() && ctx.Value(onceKey{}) == nil
	if doubt {
		if a.doubt++; a.doubt > doubts {
			return 0, withCount(e, a.doubt)
		}
	}
	if !ok || !e.Again && !doubt && !(a.known && noSuchHost(e)) {
		if ok && e.Kind == ErrUnavailable && noSuchHost(e) {
			e.Kind = ErrSetting
		}
		return 0, err
	}
	if ctx.Value(onceKey{}) != nil {
		return 0, err
	}
	if brought {
		a.row = 0
	}
	a.row++
	if a.row > a.opts.retries() && !doubt {
		if a.row == 1 {
			return 0, err
		}
		return 0, gaveUp(e, fmt.Sprintf("%d attempts in a row", a.row))
	}
	first := cmp.Or(a.opts.wait, firstWait)
	wait := max(first, min(first<<min(a.row-1, 16), mostWait))
	wait = max(wait/2+rand.N(wait), e.After) // jitter: clients that fail together do not retry together
	switch left := a.pace.left(); {
	case left <= 0:
		return 0, tooSlow(e, a.opts.patience())
	case e.After > left:
		return 0, gaveUp(e, fmt.Sprintf("it wants to be asked again after %v, and %v are left", e.After, left.Round(time.Second)))
	default:
		wait = min(wait, left)
	}
	return wait, nil
}

// repeat calls do, which makes one attempt, until it succeeds or a retry would not help. do returns whether the
// attempt received bytes.
func (c *Client) repeat(ctx context.Context, a *attempts, do func(buf []byte) (brought bool, err error)) error {
	for {
		if done, err := c.attempt(ctx, a, do); done || err != nil {
			return err
		}
	}
}

// attempt makes one attempt and, if that failed and allows a retry, waits. done means success.
func (c *Client) attempt(ctx context.Context, a *attempts, do func(buf []byte) (brought bool, err error)) (done bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	var buf []byte
	if !a.small {
		select { // the channel serves callers in the order of their arrival
		case buf = <-c.conns:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
		if buf == nil {
			buf = make([]byte, bufferSize)
		}
	}
	a.pace.enter()
	defer a.pace.leave()
	brought, err := do(buf)
	wait := time.Duration(0)
	if done = err == nil; !done {
		if wait, err = a.decide(ctx, err, brought); err != nil && a.stop != nil {
			a.stop(err)
		}
	}
	if !a.small {
		c.conns <- buf
	}
	if done || err != nil {
		return done, err
	}
	return false, sleep(ctx, wait)
}

func tooSlow(e *Error, patience time.Duration) *Error {
	return gaveUp(e, fmt.Sprintf("slower than %d KiB/s, beyond the first %v", leastRate>>10, patience))
}

func gaveUp(e *Error, why string) *Error {
	last := withReason(e, why)
	last.Again, last.Hint = false, cmp.Or(e.Hint, "run again later")
	return last
}

// withReason returns a copy of e with why before its details.
func withReason(e *Error, why string) *Error {
	last := *e
	if last.Err = errors.New(why); e.Err != nil {
		last.Err = fmt.Errorf("%s: %w", why, e.Err)
	}
	return &last
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *Client) newPace() *pace { return &pace{patience: c.opts.patience()} }

// A pace limits the time that an object takes to Options.Patience plus its bytes divided by leastRate. The clock
// runs during attempts and the waits between them, not while the object waits for a connection.
type pace struct {
	patience time.Duration

	mu      sync.Mutex
	running int
	since   time.Time // when running became 1
	spent   time.Duration
	n       int64 // bytes that have arrived
}

func (p *pace) enter() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running++; p.running == 1 {
		p.since = time.Now()
	}
}

func (p *pace) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running--; p.running == 0 {
		p.spent += time.Since(p.since)
	}
}

func (p *pace) brought(n int64) {
	p.mu.Lock()
	p.n += n
	p.mu.Unlock()
}

// left returns how long the object may still take if no more bytes arrive.
func (p *pace) left() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	spent := p.spent
	if p.running > 0 {
		spent += time.Since(p.since)
	}
	earned := time.Duration(float64(p.n) / leastRate * float64(time.Second))
	return p.patience + earned - spent
}

// doubts is the number of retries, with pauses, of a request for an object that was seen before, if the reply says that
// the object is missing, changed or of another length: one reply may be wrong.
const doubts = 3

// doubtful reports whether a wrong reply about an existing object could have caused the error.
func (e *Error) doubtful() bool {
	switch e.Status {
	case http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable, http.StatusGone: // the service itself has compared versions or lengths
		return false
	}
	return e.page || e.Kind == ErrNotFound || e.Kind == ErrChanged || e.Kind == ErrLength
}

// withCount adds the number of requests to the error of a doubtful reply.
func withCount(e *Error, n int) *Error { return withReason(e, fmt.Sprintf("asked for %d times", n)) }

// Find is Stat for an object that a manifest or a list names. It retries after [ErrNotFound], with pauses, since one reply
// may be wrong; the error counts the requests.
func Find(ctx context.Context, s Store, url string) (Object, error) {
	for n := 1; ; n++ {
		o, err := s.Stat(ctx, url)
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Kind != ErrNotFound || ctx.Value(onceKey{}) != nil {
			return o, err
		}
		if n > doubts {
			return o, withCount(e, n)
		}
		if err := sleep(ctx, firstWait<<(n-1)); err != nil {
			return o, err
		}
	}
}

// StatTwice is Stat for an object that may be missing. It retries once after [ErrNotFound], without a pause.
func StatTwice(ctx context.Context, s Store, url string) (Object, error) {
	o, err := s.Stat(ctx, url)
	if errors.Is(err, ErrNotFound) {
		o, err = s.Stat(ctx, url)
	}
	return o, err
}

// IsMissing reports whether an error means that an object or a file does not exist.
func IsMissing(err error) bool { return errors.Is(err, ErrNotFound) || errors.Is(err, fs.ErrNotExist) }

// found reports whether o is from a service: it has a version or a time.
func (o *Object) found() bool { return o.Version != "" || !o.Modified.IsZero() }
