package filter

import (
	"context"
	"errors"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/cache"
)

// An answer is what the program has answered to one part.
type answer struct {
	ready chan struct{} // closed when what follows is set
	err   error

	samples converters.Source // of one part: the samples of all answers
	entries counts            // of the source, by sample
	skipped []skipped         // entries of the source that are of no sample
	report  *converters.Filtered
	lease   *cache.Lease
}

// A skipped is how many entries of a part are skipped, or accepted, for one reason.
type skipped struct {
	reason   string
	accepted bool
	n        int
}

func (a *answer) release() error {
	if a.lease == nil {
		return nil
	}
	return a.lease.Remove()
}

// skip counts an entry that is of no sample.
func (a *answer) skip(span *converters.Span) {
	n := max(1, span.Entries)
	if span.Accepted {
		n = 1
	}
	for i := range a.skipped {
		if s := &a.skipped[i]; s.reason == span.Skip && s.accepted == span.Accepted {
			s.n += n
			return
		}
	}
	a.skipped = append(a.skipped, skipped{span.Skip, span.Accepted, n})
}

// skips yields the entries that are of no sample. It reports whether yield wants more.
func (a *answer) skips(yield func(converters.Span, error) bool) bool {
	for _, s := range a.skipped {
		if !s.accepted {
			if !yield(converters.Span{Skip: s.reason, Entries: s.n}, nil) {
				return false
			}
			continue
		}
		for range s.n {
			if !yield(converters.Span{Skip: s.reason, Accepted: true}, nil) {
				return false
			}
		}
	}
	return true
}

// answers returns the answers to a part of s. If it has none it runs the program; other callers wait for these meanwhile.
func (f *Filter) answers(ctx context.Context, s *Source, p int) (*answer, error) {
	number := s.first + p
	f.mu.Lock()
	a := f.copies[number]
	if a == nil {
		a = &answer{ready: make(chan struct{})}
		f.copies[number] = a
		f.mu.Unlock()
		a.err = f.ask(ctx, s, p, a)
		if a.err != nil {
			if err := a.release(); err != nil {
				a.err = errors.Join(a.err, err)
			}
			f.mu.Lock()
			delete(f.copies, number)
			f.mu.Unlock()
		}
		close(a.ready)
		return a, a.err
	}
	f.mu.Unlock()
	select {
	case <-a.ready:
		return a, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
