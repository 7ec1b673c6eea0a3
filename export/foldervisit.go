package export

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A visit is called with the content of each file.
type visit func(ctx context.Context, name string, content []byte) error

// each calls a visit for each file, in several workers; every worker has its own visit.
func (w *folderWriter) each(ctx context.Context, progress plan.Progress, worker func() (visit, func() error, error)) error {
	w.total.samples.Store(0)
	w.total.fields.Store(0)
	w.total.files.Store(0)
	w.total.bytes.Store(0)
	var next atomic.Int64
	firsts := make([]int64, len(w.pieces))
	for i := range w.pieces[1:] {
		firsts[i+1] = firsts[i] + w.pieces[i].Samples
	}
	g, ctx := errgroup.WithContext(ctx)
	for range min(w.opts.workers(), len(w.pieces)) {
		g.Go(func() (err error) {
			use, end, err := worker()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, end()) }()
			for i := next.Add(1) - 1; i < int64(len(w.pieces)); i = next.Add(1) - 1 {
				if err := w.piece(ctx, &w.pieces[i], firsts[i], progress, use); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// piece visits the files of a piece.
func (w *folderWriter) piece(ctx context.Context, p *plan.Shard, first int64, progress plan.Progress, use visit) error {
	enc := w.spec.WithForm(func() encode.Form { return (&visited{ctx: ctx, w: w, number: first, use: use}).encode }).NewEncoder()
	tally := plan.Tally{To: progress.Add}
	defer tally.Flush()
	samples := int64(0)
	err := w.src.encode(ctx, p.Runs, enc, func(_ int, _ *converters.Sample, rec *encode.Record) error {
		samples++
		w.total.samples.Add(1)
		w.total.fields.Add(int64(rec.Fields))
		tally.Add(1, rec.Size)
		return nil
	})
	if err != nil {
		return err
	}
	if samples != p.Samples {
		return fmt.Errorf("%w: %d samples were indexed, there are %d", converters.ErrChanged, p.Samples, samples)
	}
	return nil
}

// A visited is an encoder that visits the files of samples. It is for one goroutine.
type visited struct {
	ctx    context.Context
	w      *folderWriter
	number int64
	use    visit
	writer fileWriter
}

// encode visits the files of a sample, and appends their size.
func (v *visited) encode(b *encode.Builder, s *converters.Sample) error {
	base, err := v.w.layout.base(s, v.number)
	if err != nil {
		return err
	}
	v.number++
	total := int64(0)
	for i := range s.Fields {
		f := &s.Fields[i]
		if v.w.layout.isClass(f) {
			continue
		}
		content, err := v.writer.content(f)
		if err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
		if err := v.use(v.ctx, v.w.layout.file(base, f), content.Data()); err != nil {
			return err
		}
		v.w.total.files.Add(1)
		v.w.total.bytes.Add(content.Len())
		total += content.Len()
	}
	size := converters.Opaque(total)
	b.Value(&size)
	return nil
}
