package tar

import (
	"context"
	"fmt"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
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
	window  scan.Window
}

func (s *Source) reader() *reader {
	r, _ := s.readers.Get().(*reader)
	if r == nil {
		r = &reader{}
	}
	return r
}

func (s *Source) done(r *reader) {
	r.window.File, r.scanner.class = nil, nil
	s.readers.Put(r)
}

// Read yields the samples of a run. It reads the part sequentially from run.Off, in large reads. The
// bytes of a sample are in the read buffer, not copied. The last read goes past the run, because the next
// header ends the last sample.
func (s *Source) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		if run.Count <= 0 {
			return
		}
		r := s.reader()
		err := s.read(ctx, run, r, yield)
		s.done(r)
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
	r.window.Reset(f, p.Size, run.Off, scan.Sizes{First: firstRead, Usual: windowSize})
	r.scanner.reset(&r.window, p, &s.opts)
	done := int64(0)
	more, err := s.readMembers(ctx, r, &done, run.Count, yield)
	if err == nil && more {
		err = r.scanner.endsEarly(done, run)
	}
	return err
}

// endsEarly returns the error of a part with fewer samples than a run.
func (s *scanner) endsEarly(done int64, run converters.Run) error {
	return s.fail(s.c.Offset(), nil, fmt.Errorf("%w: the part ends after %d of the %d samples from offset %d", converters.ErrTruncated, done, run.Count, run.Off), "")
}

// readMembers yields samples of one tar, which r has been reset to, until done is count. more is true if the tar ends before.
func (s *Source) readMembers(ctx context.Context, r *reader, done *int64, count int64, yield func(*converters.Sample, error) bool) (more bool, err error) {
	sc := &r.scanner
	for {
		if err := ctx.Err(); err != nil {
			return false, sc.fail(sc.c.Offset(), nil, err, "")
		}
		r.window.Last = *done == count-1
		ev, err := sc.next()
		if err != nil {
			return false, err
		}
		switch ev {
		case eventSample:
			for i := range sc.group.files {
				sc.group.sample.Fields[i].Value = converters.Bytes(r.window.Kept(i))
			}
			*done++
			if !yield(&sc.group.sample, nil) || *done == count {
				return false, nil
			}
		case eventEnd:
			end, err := sc.trailer(&s.opts)
			if err != nil || !end.more {
				return err == nil, err
			}
		}
	}
}
