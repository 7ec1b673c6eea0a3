package browse

import (
	"context"
	"strings"
	"time"

	"github.com/ffconvert/ffconvert/dataset/lookup"
)

// A hits is some of the samples of a query.
type hits struct {
	Rows   []lookup.Row // keys of more than 16 KiB are cut
	Next   int64        // the first sample that was not examined; the number of all samples at the end
	Looked int64        // number of samples examined

	// Unknown counts samples for which the expression cannot be evaluated, because their records are damaged or larger
	// than 64 MiB, or a value cannot be compared; the error is that of the first. They are not in Rows.
	Unknown int64
	Problem error
}

const longestKey = 16 << 10 // bytes of a key in a page or a survey

// rowsAtOnce is how many rows are examined between two checks of the time.
const rowsAtOnce = 8192

// page returns the samples that q finds, from sample number from on: at most most, found within the budget; 0: no time
// limit. Its time does not depend on from or on the number of samples.
func (s *searcher) page(ctx context.Context, q Query, from int64, most int, budget time.Duration) (hits, error) {
	f, err := s.filter(q)
	if err != nil {
		return hits{}, err
	}
	end := time.Now().Add(budget)
	p := hits{Next: s.d.Len()}
	err = s.walk(ctx, f, from, &p, func(r *lookup.Row) bool {
		if r != nil {
			p.Rows = append(p.Rows, *r)
			last := &p.Rows[len(p.Rows)-1]
			last.Key = strings.Clone(r.Key[:min(longestKey, len(r.Key))])
		}
		return len(p.Rows) < most && (budget <= 0 || time.Now().Before(end))
	})
	return p, err
}

// walk calls use with each sample that f finds from sample from on, and with nil from time to time in between. It
// counts in p, and sets p.Next if use returns false.
func (s *searcher) walk(ctx context.Context, f *filter, from int64, p *hits, use func(r *lookup.Row) bool) error {
	x := s.reader()
	defer x.close()
	from = max(from, f.first)
	if from >= f.end {
		return ctx.Err()
	}
	for r, err := range x.d.WalkFrom(ctx, from) {
		if err != nil {
			return err
		}
		if r.Number == f.end {
			return nil
		}
		p.Looked++
		found, err := f.rowHolds(r)
		decoded := found && f.where.Compares()
		if decoded {
			found, err = f.fieldsHold(ctx, x, r)
		}
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if p.Unknown++; p.Unknown == 1 {
				p.Problem = err
			}
		}
		more := true
		switch {
		case found:
			more = use(r)
		case decoded, p.Looked%rowsAtOnce == 0:
			more = use(nil)
		}
		if !more {
			if r.Number+1 < f.end {
				p.Next = r.Number + 1
			}
			return nil
		}
	}
	return nil
}

// before returns the last sample of q before sample number n; -1 if there is none, or if the budget ends first. 0: no
// time limit.
func (s *searcher) before(ctx context.Context, q Query, n int64, budget time.Duration) (int64, error) {
	f, err := s.filter(q)
	if err != nil {
		return -1, err
	}
	end := time.Now().Add(budget)
	last, late := int64(-1), false
	for hi, width := min(n, f.end), int64(256); hi > f.first && last < 0; width = min(4*width, 1<<20) {
		part := *f
		part.first, part.end = max(f.first, hi-width), hi
		err := s.walk(ctx, &part, part.first, new(hits), func(r *lookup.Row) bool {
			if r != nil {
				last = r.Number
			}
			late = budget > 0 && time.Now().After(end)
			return !late
		})
		if err != nil {
			return -1, err
		}
		if late {
			return -1, nil
		}
		hi = part.first
	}
	return last, nil
}
