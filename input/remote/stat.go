package remote

import (
	"context"
	"fmt"
	"iter"
)

// Stat looks at an object: its size, its version and, where the service tells, its checksum.
// What breaks is asked again, as Fetch does.
func (c *Client) Stat(ctx context.Context, url string) (Object, error) {
	s, err := c.store(url)
	if err != nil {
		return Object{}, err
	}
	a := c.attempts()
	for {
		o, err := s.stat(ctx, url)
		if err == nil {
			return o, nil
		}
		if err := a.next(ctx, err, false); err != nil {
			return Object{}, err
		}
	}
}

// List yields the objects whose URLs begin with prefix, in the order of their code points. It
// ends after the first error: ErrNoList where the service gives no lists.
//
// A list that breaks is asked for again from its beginning, and goes on after the last object
// that it has yielded. That takes an order: one that has none is an error then.
func (c *Client) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		s, err := c.store(prefix)
		if err != nil {
			yield(Object{}, err)
			return
		}
		a := c.attempts()
		l := listing{ordered: true}
		for {
			n := l.n
			err := l.pass(s.list(ctx, prefix), yield)
			if err == nil {
				return
			}
			if l.n > n {
				a = c.attempts()
			}
			if l.ordered || ctx.Err() != nil {
				err = a.next(ctx, err, false)
			} else {
				err = &Error{URL: Redact(prefix), Kind: ErrNoList, Hint: "run again",
					Err: fmt.Errorf("a list out of order has broken off, and cannot be continued: %w", err)}
			}
			if err != nil {
				yield(Object{}, err)
				return
			}
		}
	}
}

// attempts are those of a question whose answer has no bytes.
func (c *Client) attempts() *attempts {
	p := &pace{patience: c.opts.patience()}
	p.enter()
	return newAttempts(c.opts, p)
}

// A listing is what List has yielded.
type listing struct {
	n       int64
	last    string // URL
	ordered bool   // so far, in all passes
	err     error  // that has ended the last pass
}

// pass yields the objects of one attempt that are new. Its error is nil at the end of the
// list, and where nobody wants more.
func (l *listing) pass(objects iter.Seq2[Object, error], yield func(Object, error) bool) error {
	after, again, before := l.last, l.n > 0, ""
	for o, err := range objects {
		if err != nil {
			l.err = err
			return err
		}
		l.ordered = l.ordered && (before == "" || o.URL > before)
		before = o.URL
		switch {
		case again && !l.ordered: // what is new cannot be told
			return l.err
		case again && o.URL <= after:
			continue
		}
		l.n++
		l.last = o.URL
		if !yield(o, nil) {
			return nil
		}
	}
	return nil
}
