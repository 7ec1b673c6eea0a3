package filter

import (
	"context"
	"errors"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/cache"
)

// An answer is the program's output for one part.
type answer struct {
	ready chan struct{} // closed when the fields below are set
	err   error

	given   counts            // entries of the source, by sample given to the program
	size    int64             // end of the last indexed sample, in bytes of the part: a lower bound of its size
	samples converters.Source // one part: the samples of all answers
	entries counts            // entries of the source, by sample of the answers
	skipped []converters.Span // entries of the source that belong to no sample, one span per reason
	report  *converters.Filtered
	lease   *cache.Lease
}

func (a *answer) release() error {
	if a.lease == nil {
		return nil
	}
	return a.lease.Remove()
}

func (a *answer) skip(span *converters.Span) {
	n := max(1, span.Entries)
	if span.Accepted {
		n = 1
	}
	i := slices.IndexFunc(a.skipped, func(s converters.Span) bool { return s.Skip == span.Skip && s.Accepted == span.Accepted })
	if i < 0 {
		i = len(a.skipped)
		a.skipped = append(a.skipped, converters.Span{Skip: span.Skip, Accepted: span.Accepted})
	}
	a.skipped[i].Entries += n
}

// skips yields the skipped entries, with each accepted defect as its own span. It returns false if yield did.
func (a *answer) skips(yield func(*converters.Span, error) bool) bool {
	for _, span := range a.skipped {
		times := 1
		if span.Accepted {
			times, span.Entries = span.Entries, 0
		}
		for range times {
			if !yield(&span, nil) {
				return false
			}
		}
	}
	return true
}

// answers returns the answers to a part of s. The first caller runs the program; concurrent callers wait for it.
func (f *Filter) answers(ctx context.Context, s *source, p int) (*answer, error) {
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
