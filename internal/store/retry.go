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
	firstWait = 100 * time.Millisecond // before the second attempt; it doubles, and is spread by half
	mostWait  = 30 * time.Second       // what it grows to
)

// attempts decides whether a failed request is repeated. Not for concurrent use.
type attempts struct {
	opts  Options
	pace  *pace
	row   int  // attempts in a row that brought no byte
	known bool // the service has answered before: that its name is not found may pass
	found bool // the object was found before: that it is not there, or another one, may be a wrong reply
	doubt int  // such replies

	small bool // it brings no bytes of an object, and needs no connection of Options.Connections, nor its buffer
	// stop, which may be nil, is called with the error to report before another request has the connection: its error
	// would be that of a later request.
	stop context.CancelCauseFunc
}

type onceKey struct{}

// Once returns a context under which no failed request is repeated.
func Once(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

// decide takes the error of an attempt, and whether that has brought bytes. It returns how long to wait before another
// attempt, or the error to report.
func (a *attempts) decide(ctx context.Context, err error, brought bool) (time.Duration, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	e, ok := errors.AsType[*Error](err)
	doubt := ok && !e.Again && a.found && e.doubtful() && ctx.Value(onceKey{}) == nil
	if doubt {
		if a.doubt++; a.doubt > doubts {
			return 0, askedOften(e, a.doubt)
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
	wait = max(wait/2+rand.N(wait), e.After) // spread by half: clients that fail together do not come back together
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

// repeat calls do, which makes one attempt, until it succeeds or another attempt would not help. do returns whether the
// attempt has brought bytes.
func (c *Client) repeat(ctx context.Context, a *attempts, do func(buf []byte) (brought bool, err error)) error {
	for {
		if done, err := c.attempt(ctx, a, do); done || err != nil {
			return err
		}
	}
}

// attempt makes one attempt, and waits after one that failed.
func (c *Client) attempt(ctx context.Context, a *attempts, do func(buf []byte) (brought bool, err error)) (done bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	var buf []byte
	if !a.small {
		select { // callers are served in turn
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
	last := because(e, why)
	last.Again, last.Hint = false, cmp.Or(e.Hint, "run again later")
	return last
}

// because returns e with more details before its own.
func because(e *Error, why string) *Error {
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

// A pace compares the time that an object takes with Options.Patience. The clock runs while at least
// one of its attempts does, waits between attempts included; waiting for other objects does not count.
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

// left returns how long the object may still take without another byte.
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

// doubts is how often an object that something names is asked for again, with pauses, before it is said not to exist, to be
// another version or to have another length: a reply may be wrong.
const doubts = 3

// doubtful reports whether one wrong reply for an object that is there could have led to an error.
func (e *Error) doubtful() bool {
	switch e.Status {
	case http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable, http.StatusGone: // the service has compared
		return false
	}
	return e.page || e.Kind == ErrNotFound || e.Kind == ErrChanged || e.Kind == ErrLength
}

// askedOften says in the error of a doubtful reply how often it came.
func askedOften(e *Error, n int) *Error { return because(e, fmt.Sprintf("asked for %d times", n)) }

// Find is Stat of an object that a manifest or a list names. It repeats a request that finds nothing, with pauses, since one
// reply may be wrong; the error counts the requests.
func Find(ctx context.Context, s Store, url string) (Object, error) {
	for n := 1; ; n++ {
		o, err := s.Stat(ctx, url)
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Kind != ErrNotFound || ctx.Value(onceKey{}) != nil {
			return o, err
		}
		if n > doubts {
			return o, askedOften(e, n)
		}
		if err := sleep(ctx, firstWait<<(n-1)); err != nil {
			return o, err
		}
	}
}

// StatTwice is Stat of an object that may be missing. It repeats a request that finds nothing once, without a pause.
func StatTwice(ctx context.Context, s Store, url string) (Object, error) {
	o, err := s.Stat(ctx, url)
	if errors.Is(err, ErrNotFound) {
		o, err = s.Stat(ctx, url)
	}
	return o, err
}

// IsMissing reports whether an error says that an object, or a file, does not exist.
func IsMissing(err error) bool { return errors.Is(err, ErrNotFound) || errors.Is(err, fs.ErrNotExist) }

// found reports whether a service has said what the object is.
func (o *Object) found() bool { return o.Version != "" || !o.Modified.IsZero() }
