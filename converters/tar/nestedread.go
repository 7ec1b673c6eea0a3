package tar

import (
	"context"
	"sort"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// WithParts returns a source with these parts, which must be the parts of n from number first on. Classes keep their
// numbers.
func (n *Nested) WithParts(first int, parts []converters.Part) converters.Source {
	some := *n
	some.lists = n.lists[first : first+len(parts)]
	return some.with(n.src.with(parts))
}

func (n Nested) with(src *source) *Nested {
	n.src = src
	n.Source = scan.New(src.Parts(), src.open, "sample", func() scan.Reader { return &nestedReader{reader: reader{src: src}, of: &n} })
	return &n
}

// Describe returns the names of the classes by number, including empty ones.
func (n *Nested) Describe() converters.Description {
	return converters.Description{Classes: n.classes}
}

// A nestedReader reads the samples of all inner tars of one part. A run may continue in the next inner tar.
type nestedReader struct {
	reader // of the current inner tar
	of     *Nested
	outer  outerScanner     // for an index
	tars   []inner          // for a run: the inner tars not read yet
	given  map[string]class // for an index with labels
}

// Begin prepares for the samples of a pass.
func (r *nestedReader) Begin(ctx context.Context, p *scan.Pass) error {
	r.tars, r.given = nil, nil
	if !p.Index || r.of.number == nil {
		tars, err := r.of.list(ctx, p.Run.Part)
		if err != nil {
			return err
		}
		if p.Index {
			r.given = make(map[string]class, len(tars))
			for i := range tars {
				r.given[tars[i].class.name] = tars[i].class
			}
		} else {
			r.tars = tars[sort.Search(len(tars), func(i int) bool { return tars[i].end > p.Run.Off }):]
		}
	}
	if err := r.reader.Begin(ctx, p); err != nil {
		return err
	}
	r.first, r.ended = false, true
	if p.Index {
		r.outer.begin(r.of, p.File, p.Part)
	}
	return nil
}

// Next returns the next samples. A skipped entry may be a member of the part or of an inner tar.
func (r *nestedReader) Next(ctx context.Context, want int64) ([]converters.Span, error) {
	for {
		if !r.ended {
			if spans, err := r.reader.Next(ctx, want); err != nil || len(spans) > 0 {
				return spans, err
			}
		}
		if !r.pass.Index {
			if len(r.tars) == 0 {
				return nil, nil
			}
			r.enter(&r.tars[0])
			r.tars = r.tars[1:]
			continue
		}
		is, spans, err := r.outer.next()
		if err != nil || is == nil {
			for i := range spans {
				if is, ok := r.given[labelled(spans[i].Name)]; ok && !is.own && spans[i].Skip == skipNotTar {
					spans[i].Skip = skipLabel
				}
			}
			return spans, err
		}
		if r.given != nil {
			is.class = r.given[is.class.name]
		}
		r.enter(is)
	}
}

// enter starts to read the members of an inner tar.
func (r *nestedReader) enter(is *inner) {
	r.turn(max(is.off, r.pass.Run.Off), is.end)
	r.scanner.tar, r.scanner.class = is.name, &is.class
	if r.seen != nil {
		r.seen.prefix = is.class.prefix
	}
}

// within returns the name of a member for a report of skipped entries.
func (s *scanner) within(name []byte) string {
	if s.tar == "" {
		return string(name)
	}
	return s.tar + ": " + string(name)
}
