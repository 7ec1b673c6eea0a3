package wrap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ffconvert/ffconvert/converters"
)

// seen are the keys of the indexed samples.
type seen struct {
	seed  maphash.Seed
	mu    sync.Mutex
	parts []seenPart

	checked atomic.Bool // all samples were indexed, so unmatched rows are known
}

type seenPart struct {
	hashes  []uint64 // hashes of the keys
	lacking []lack   // by table
}

// A lack counts the samples of a part that have no row in a table.
type lack struct {
	samples int64
	first   string // key of the first such sample
}

// set stores the result of indexing a part. A part may be indexed again.
func (s *seen) set(part int, of seenPart) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts[part] = of
}

// add records the key of the next sample of the part.
func (p *seenPart) add(seed maphash.Seed, key string, opts *Keys) {
	if key == "" {
		return
	}
	if opts.Unique {
		p.hashes = append(p.hashes, maphash.String(seed, key))
	}
	for i, t := range opts.Tables {
		if t.use(key) {
			continue
		}
		if p.lacking == nil {
			p.lacking = make([]lack, len(opts.Tables))
		}
		l := &p.lacking[i]
		l.first = cmp.Or(l.first, key)
		l.samples++
	}
}

// Check returns an error if several samples have one key, or if tables and samples do not match. It covers the
// samples that were indexed.
func (s *rekeyed) Check(ctx context.Context) error {
	s.seen.checked.Store(true)
	if s.opts.Unique {
		if err := s.clash(ctx); err != nil {
			return err
		}
	}
	var all []error
	if c, ok := s.Source.(interface{ Check(context.Context) error }); ok {
		all = append(all, c.Check(ctx))
	}
	if s.opts.Unmatched {
		return errors.Join(all...)
	}
	for _, d := range s.unmatched() {
		all = append(all, &converters.Error{Where: d.Part, Off: -1, Err: fmt.Errorf("%w: %s", converters.ErrUnmatched, d.Text), Hint: "option unmatched"})
	}
	return errors.Join(all...)
}

// unmatched returns doubts that count the samples without a row, and the rows without a sample.
func (s *rekeyed) unmatched() []converters.Doubt {
	var all []converters.Doubt
	for i, t := range s.opts.Tables {
		var sum lack
		for p := range s.seen.parts {
			if lacking := s.seen.parts[p].lacking; lacking != nil {
				sum.samples += lacking[i].samples
				sum.first = cmp.Or(sum.first, lacking[i].first)
			}
		}
		var texts []string
		if sum.samples > 0 {
			texts = append(texts, fmt.Sprintf("it has no row for %d samples, the first has the key %.80q", sum.samples, sum.first))
		}
		if n, first := t.unused(); n > 0 {
			texts = append(texts, fmt.Sprintf("%d of its rows are of no sample, the first has the key %.80q", n, first))
		}
		if texts != nil {
			all = append(all, converters.Doubt{Part: t.name, Off: -1, Text: strings.Join(texts, "; ")})
		}
	}
	return all
}

// clash returns an error if two samples have the same key. For equal hashes it reads the keys of their parts
// again: different keys may have the same hash.
func (s *rekeyed) clash(ctx context.Context) error {
	type entry struct {
		hash uint64
		part int
	}
	var all []entry
	for p := range s.seen.parts {
		for _, h := range s.seen.parts[p].hashes {
			all = append(all, entry{h, p})
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.part, b.part)) })
	suspects, parts := make(map[uint64]bool), make(map[int]bool)
	for i := 1; i < len(all) && len(suspects) < mostSuspects; i++ {
		if all[i].hash == all[i-1].hash {
			suspects[all[i].hash] = true
			parts[all[i].part], parts[all[i-1].part] = true, true
		}
	}
	found := make(map[string]string)
	for p, part := range s.Parts() {
		if !parts[p] {
			continue
		}
		c := s.changer(p)
		for span, err := range s.Source.Index(ctx, p) {
			if err != nil {
				return err
			}
			if span.Shape == nil {
				continue
			}
			sample, err := c.change(span.Shape)
			if err != nil {
				return c.fail(span.Off, err)
			}
			if !suspects[maphash.String(s.seen.seed, sample.Key)] {
				continue
			}
			if before, twice := found[sample.Key]; twice {
				err := fmt.Errorf("%w key, which a sample of %s has as well", converters.ErrDuplicate, before)
				return &converters.Error{Where: part.Name, Off: span.Off, Entry: sample.Key, Err: err, Hint: "option key-prefix or option key changes keys"}
			}
			found[sample.Key] = part.Name
		}
	}
	return nil
}

// mostSuspects limits the equal hashes that are compared by key: among more, some keys are equal.
const mostSuspects = 1000
