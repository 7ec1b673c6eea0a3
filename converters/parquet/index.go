package parquet

import (
	"context"
	"fmt"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
)

// Index yields the rows of part p. It reads the footer and the pages of the chosen columns, without the bytes of plain,
// uncompressed values that no option asks for.
func (s *Source) Index(ctx context.Context, p int) iter.Seq2[converters.Span, error] {
	return func(yield func(converters.Span, error) bool) {
		if err := s.index(ctx, p, yield); err != nil {
			yield(converters.Span{}, err)
		}
	}
}

func (s *Source) index(ctx context.Context, p int, yield func(converters.Span, error) bool) error {
	r, err := s.reader(p, converters.ForIndex, true)
	if err != nil {
		return err
	}
	defer r.close()
	if err := r.alike(); err != nil {
		return err
	}
	if err := r.seek(0); err != nil {
		return err
	}
	for {
		ok, err := r.next(ctx)
		if err != nil || !ok {
			return err
		}
		if !yield(converters.Span{Off: r.sample.Off, Entries: 1, Shape: &r.sample}, nil) {
			return nil
		}
	}
}

// alike compares the columns with those of the first part.
func (r *reader) alike() error {
	if r.table.rows == 0 {
		return nil
	}
	err := r.src.unlike.Compare(r.part.Name, r.src.says, r.table.describe(r.table.needed(r.src.opts.Fields)))
	return columns.Place(converters.Error{Where: r.part.Name, Off: r.table.off, Entry: footerName}, err)
}

// Doubts reports the first of the parts that have other columns than the first part.
func (s *Source) Doubts() []converters.Doubt { return s.unlike.Doubts(s.parts) }

// Read yields the rows of a run. The bytes of a field of the first level are in a page or in the read buffer, not copied.
func (s *Source) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		if run.Count <= 0 {
			return
		}
		if err := s.read(ctx, run, yield); err != nil {
			yield(nil, err)
		}
	}
}

func (s *Source) read(ctx context.Context, run converters.Run, yield func(*converters.Sample, error) bool) error {
	r, err := s.reader(run.Part, converters.ForRun(run), false)
	if err != nil {
		return err
	}
	defer r.close()
	if err := r.seek(run.First); err != nil {
		return err
	}
	for done := range run.Count {
		ok, err := r.next(ctx)
		if err != nil {
			return err
		}
		if !ok {
			err := fmt.Errorf("%w: the part ends after %d of the %d rows from row %d", converters.ErrTruncated, done, run.Count, run.First)
			return &converters.Error{Where: r.part.Name, Off: r.table.off, Err: err}
		}
		if !yield(&r.sample, nil) {
			return nil
		}
	}
	return nil
}
