package find

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/place"
)

// ErrUnknown reports a query for a class, shard or source part that the dataset does not have.
var ErrUnknown = place.New(place.Refused, "the dataset has no such thing")

// A Searcher searches one dataset. It may be used concurrently.
type Searcher struct {
	d        *lookup.Dataset // to Fork
	meta     dataset.Meta
	shards   []span
	manifest func() (*dataset.Manifest, error) // with its sources; read when it is needed: it may have very many. nil: other people's files
	keyed    func() (bool, error)
	large    chan struct{}        // see reader
	counted  func() (bool, error) // see readCounted
	total    int64                // samples that meta.json counts, once counted was called
}

// A span is the samples of a shard.
type span struct {
	name       string
	first, end int64
}

// NewSearcher returns a searcher of a dataset. meta is its meta.json, or the zero value.
func NewSearcher(d *lookup.Dataset, meta dataset.Meta) *Searcher {
	s := &Searcher{d: d.Fork(), meta: meta, large: make(chan struct{}, 1)}
	end := int64(0)
	for _, f := range d.Files() {
		s.shards = append(s.shards, span{filepath.Base(f.Path), end, end + f.Samples})
		end += f.Samples
	}
	s.keyed = sync.OnceValues(func() (bool, error) { return s.d.Fork().Keyed() })
	s.manifest = sync.OnceValues(func() (*dataset.Manifest, error) {
		if !s.d.Ours() {
			return nil, nil
		}
		return dataset.ReadManifest(s.d.Dir())
	})
	s.counted = sync.OnceValues(s.readCounted)
	return s
}

// A filter is a query with its names looked up.
type filter struct {
	Query
	first, end int64 // samples that are looked at
	labeled    labels
	label      int64
	sources    []int  // rows of "sources"; nil: all
	field      string // that is looked for in records; ""
}

// labels says which samples are wanted by their class.
type labels int

const (
	anyLabel labels = iota
	oneLabel
	noLabel
)

// filter looks the names of a query up.
func (s *Searcher) filter(q Query) (*filter, error) {
	f := &filter{Query: q, end: s.d.Len(), field: q.Field}
	if q.Shard != "" {
		i := slices.IndexFunc(s.shards, func(x span) bool { return x.name == q.Shard })
		if i < 0 {
			return nil, fmt.Errorf("%w: shard %.200q", ErrUnknown, q.Shard)
		}
		f.first, f.end = s.shards[i].first, s.shards[i].end
	}
	var err error
	if f.labeled, f.label, err = s.class(q.Class); err != nil {
		return nil, err
	}
	if q.Source != "" {
		if f.sources, err = s.sources(q.Source); err != nil {
			return nil, err
		}
	}
	if q.Field != "" {
		if len(s.d.Encodings()) == 0 {
			return nil, &place.Error{Where: s.d.Path(), Off: -1, Err: lookup.ErrNoFields, Hint: "option records"}
		}
		switch has, err := s.fieldKnown(q.Field); {
		case err != nil:
			return nil, err
		case has == all:
			f.field = ""
		case has == none:
			f.field, f.end = "", f.first
		}
	}
	return f, nil
}

// class finds a class by its name, else by its number.
func (s *Searcher) class(name string) (labels, int64, error) {
	switch name {
	case "":
		return anyLabel, 0, nil
	case noClass:
		return noLabel, 0, nil
	}
	if i := slices.Index(s.meta.Classes, name); i >= 0 {
		return oneLabel, int64(i), nil
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(name, "#"), 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("%w: class %.200q", ErrUnknown, name)
	}
	return oneLabel, n, nil
}

// sources finds source parts by their name: a mixture may have one several times.
func (s *Searcher) sources(name string) (rows []int, err error) {
	m, err := s.manifest()
	if err != nil {
		return nil, err
	}
	if m != nil {
		for i := range m.Sources {
			if m.Sources[i].Name == name {
				rows = append(rows, i)
			}
		}
		number, ok := strings.CutPrefix(name, "#")
		if n, err := strconv.Atoi(number); ok && err == nil && rows == nil && n >= 0 && n < len(m.Sources) {
			rows = []int{n}
		}
	}
	if rows == nil {
		return nil, fmt.Errorf("%w: source part %.200q", ErrUnknown, name)
	}
	return rows, nil
}

// holds reports whether a sample is wanted, as far as it shows without its record.
func (f *filter) holds(r *lookup.Row) bool {
	switch {
	case f.labeled == oneLabel && (!r.Labeled || r.Label != f.label),
		f.labeled == noLabel && r.Labeled,
		f.sources != nil && !slices.Contains(f.sources, r.Source),
		r.At.Size < f.Min, f.Max > 0 && r.At.Size > f.Max:
		return false
	}
	return strings.HasPrefix(r.Key, f.Prefix)
}
