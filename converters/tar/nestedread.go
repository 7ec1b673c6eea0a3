package tar

import (
	"context"
	"sort"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

func (n nested) with(src *source) *nested {
	n.src = src
	n.Source = scan.New(src.Parts(), scan.Format{
		Open: src.open, Unit: "sample", Reader: func() scan.Reader { return &nestedReader{reader: reader{src: src}, of: &n} },
		With: func(first int, parts []converters.Part) converters.Source { // classes keep their numbers
			some := n
			some.lists = n.lists[first : first+len(parts)]
			return some.with(src.with(parts))
		},
		Describe: func() converters.Description { return converters.Description{Classes: n.classes} }, // by number, including empty ones
	})
	return &n
}

// A nestedReader reads the samples of all inner tars of one part. A run may continue in the next inner tar.
type nestedReader struct {
	reader // of the current inner tar
	of     *nested
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
