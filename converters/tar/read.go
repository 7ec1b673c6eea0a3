package tar

import (
	"context"
	"fmt"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/window"
)

// Sizes of reads in bytes. The first read is small, because a run may be one small sample. Reads double
// up to a size that is efficient for the device and fits into the processor's cache.
const (
	firstRead  = 64 << 10
	windowSize = 1 << 20
)

// A reader reads one run. Readers are reused.
type reader struct {
	scanner scanner
	window  window.Window
}

// Read yields the samples of a run. It reads the part sequentially from run.Off, in large reads. The
// bytes of a sample are in the read buffer, not copied. The last read goes past the run, because the next
// header ends the last sample.
func (s *Source) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		if run.Count <= 0 {
			return
		}
		r, _ := s.readers.Get().(*reader)
		if r == nil {
			r = &reader{}
		}
		err := s.read(ctx, run, r, yield)
		r.window.File = nil
		s.readers.Put(r)
		if err != nil {
			yield(nil, err)
		}
	}
}

func (s *Source) read(ctx context.Context, run converters.Run, r *reader, yield func(*converters.Sample, error) bool) error {
	p := s.parts[run.Part]
	f, err := s.open(p, converters.ForRun(run))
	if err != nil {
		return err
	}
	defer f.Close()
	r.window.Reset(f, p.Size, run.Off, window.Sizes{First: firstRead, Usual: windowSize})
	sc := &r.scanner
	sc.reset(&r.window, p, &s.opts)

	for done := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return sc.fail(sc.c.Offset(), nil, err, "")
		}
		r.window.Last = done == run.Count-1
		ev, err := sc.next()
		if err != nil {
			return err
		}
		switch ev {
		case eventSample:
			for i := range sc.group.sample.Fields {
				sc.group.sample.Fields[i].Value = converters.Bytes(r.window.Kept(i))
			}
			done++
			if !yield(&sc.group.sample, nil) || done == run.Count {
				return nil
			}
		case eventEnd:
			end, err := sc.trailer(&s.opts)
			if err != nil {
				return err
			}
			if !end.more {
				return sc.fail(sc.c.Offset(), nil, fmt.Errorf("%w: the part ends after %d of the %d samples from offset %d", converters.ErrTruncated, done, run.Count, run.Off), "")
			}
		}
	}
}
