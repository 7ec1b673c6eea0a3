package folder

import (
	"context"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
)

// acceptedDuplicate is the Span.Skip of a key that Options.KeepDuplicates accepts.
const acceptedDuplicate = "key that came back"

// Index yields the samples of part p, skipped entries, and accepted duplicate keys. It opens only
// directories, and the files that Options.Load asks for.
func (s *Source) Index(ctx context.Context, p int) iter.Seq2[converters.Span, error] {
	return func(yield func(converters.Span, error) bool) {
		if err := s.index(ctx, &s.dirs[p], yield); err != nil {
			yield(converters.Span{}, err)
		}
	}
}

func (s *Source) index(ctx context.Context, p *part, yield func(converters.Span, error) bool) error {
	if err := ctx.Err(); err != nil {
		return p.fail("", err, "")
	}
	l, err := s.listing(ctx, p)
	if err != nil {
		return err
	}
	r := s.reader(p, l)
	defer s.done(r)
	skips := l.rare().skips
	for i := range l.samples() + 1 {
		if i%batch == 0 && ctx.Err() != nil {
			return p.fail("", ctx.Err(), "")
		}
		from, to := len(l.files), len(l.files)
		if i < l.samples() {
			from, to = l.extent(i)
		}
		for ; len(skips) > 0 && int(skips[0].before) <= from; skips = skips[1:] {
			k := skips[0]
			if !yield(converters.Span{Off: l.off(from), Entries: 1, Skip: l.names.kind(k.name).skipped(), Name: l.path(k.dir, k.name)}, nil) {
				return nil
			}
		}
		if i == l.samples() {
			return nil
		}
		if err := r.shape(from, to); err != nil {
			return err
		}
		if l.lacks(i) && !yield(converters.Span{Off: r.sample.Off, Skip: kindUnpaired.skipped(), Name: r.sample.Key, Accepted: true}, nil) {
			return nil
		}
		if l.cameBack(i) && !yield(converters.Span{Off: r.sample.Off, Skip: acceptedDuplicate, Name: r.sample.Key, Accepted: true}, nil) {
			return nil
		}
		if !yield(converters.Span{Off: r.sample.Off, Entries: to - from, Shape: &r.sample, ModTime: l.newest(from, to)}, nil) {
			return nil
		}
	}
	return nil
}
