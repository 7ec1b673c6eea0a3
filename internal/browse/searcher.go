package browse

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// errUnknown reports a query for a shard or source part that the dataset does not have.
var errUnknown = place.New(place.Refused, "the dataset has no such thing")

// A searcher searches one dataset. It may be used concurrently.
type searcher struct {
	d       *lookup.Dataset // forked by each search
	classes []string
	shards  []span
	Sources func() ([]plan.Part, error) // from the manifest; loaded when needed: there may be very many
	keyed   func() (bool, error)
	large   chan struct{} // see reader
}

// A span is the samples of a shard.
type span struct {
	name       string
	first, end int64
}

// newSearcher returns a searcher of a dataset. classes are the names of its classes by number; nil: they have none.
func newSearcher(d *lookup.Dataset, classes []string) *searcher {
	s := &searcher{d: d.Fork(), classes: classes, large: make(chan struct{}, 1)}
	end := int64(0)
	for _, f := range d.Files() {
		s.shards = append(s.shards, span{filepath.Base(f.Path), end, end + f.Samples})
		end += f.Samples
	}
	s.keyed = sync.OnceValues(func() (bool, error) { return s.d.Fork().Keyed() })
	s.Sources = sync.OnceValues(func() ([]plan.Part, error) {
		if !s.d.Ours() {
			return nil, nil
		}
		m, err := dataset.ReadManifest(s.d.Dir)
		if err != nil {
			return nil, err
		}
		return m.Sources, nil
	})
	return s
}

// A filter is a query with resolved names. It must not be used concurrently.
type filter struct {
	first, end int64 // range of samples to examine
	sources    []int // rows of "sources"; nil: all
	where      *choose.Chooser
}

// filter resolves the names of a query.
func (s *searcher) filter(q Query) (*filter, error) {
	f := &filter{end: s.d.Len()}
	if q.Shard != "" {
		i := slices.IndexFunc(s.shards, func(x span) bool { return x.name == q.Shard })
		if i < 0 {
			return nil, fmt.Errorf("%w: shard %.200q", errUnknown, q.Shard)
		}
		f.first, f.end = s.shards[i].first, s.shards[i].end
	}
	var err error
	if q.Source != "" {
		if f.sources, err = s.source(q.Source); err != nil {
			return nil, err
		}
	}
	if f.where, err = choose.New(choose.Options{Where: q.Where}, s.classes); err != nil {
		return nil, err
	}
	if f.where.Compares() && len(s.d.Encodings()) == 0 {
		return nil, &place.Error{Where: s.d.Path, Off: -1, Err: lookup.ErrNoFields, Hint: "option records"}
	}
	return f, nil
}

// source returns the source parts with a name: a mixture may have the same part several times.
func (s *searcher) source(name string) (rows []int, err error) {
	parts, err := s.Sources()
	if err != nil {
		return nil, err
	}
	for i := range parts {
		if parts[i].Name == name {
			rows = append(rows, i)
		}
	}
	if rows == nil {
		return nil, fmt.Errorf("%w: source part %.200q", errUnknown, name)
	}
	return rows, nil
}

// rowHolds reports whether a row satisfies the conditions that do not need its record.
func (f *filter) rowHolds(r *lookup.Row) (bool, error) {
	if f.sources != nil && !slices.Contains(f.sources, r.Source) {
		return false, nil
	}
	return f.where.Holds(r.Key, r.At.Size, r.Label, r.Labeled, nil)
}

// fieldsHold reports whether a sample satisfies the comparisons of fields; x decodes its record.
func (f *filter) fieldsHold(ctx context.Context, x *reader, r *lookup.Row) (bool, error) {
	sample, err := x.decode(ctx, r)
	if err != nil {
		return false, err
	}
	return f.where.Holds(r.Key, r.At.Size, r.Label, r.Labeled, sample)
}
