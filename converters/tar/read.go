package tar

import (
	"context"
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// Sizes of reads in bytes. The first read of an index covers adjacent headers and small members. Reads double where
// headers are close to each other, and include the payload between them, because one read per header takes three
// quarters of the time of converting small members (BenchmarkIndex). The first read of a run is small, because the run
// may be one small sample. Reads double up to a size that is efficient for the device and fits into the processor's
// cache.
const (
	headerRead  = 4 << 10
	headerReads = 64 << 10
	firstRead   = 64 << 10
	windowSize  = 1 << 20
)

// A reader reads the samples of one tar. Readers are reused.
type reader struct {
	src     *source
	scanner scanner
	window  scan.Window
	pass    *scan.Pass
	seen    *keys // keys of an index; nil for Read
	first   bool  // the next sample is the first one of the dataset
	ended   bool
	spans   []converters.Span // result of the last call of Next
}

// Begin prepares for the samples of a pass. The Off of a sample is the first block of its first member, including a PAX
// header or long name before that.
func (r *reader) Begin(_ context.Context, p *scan.Pass) error {
	r.pass, r.first = p, p.Index && p.Run.Part == 0
	r.turn(p.Run.Off, p.Part.Size)
	return nil
}

// turn starts at the samples between two offsets of the part.
func (r *reader) turn(off, end int64) {
	p, sizes := r.pass, scan.Sizes{First: firstRead, Usual: windowSize}
	if p.Index {
		sizes = scan.Sizes{First: headerRead, Usual: headerReads}
	}
	r.window.Reset(p.File, end, off, sizes)
	r.scanner.reset(&r.window, p.Part, &r.src.opts)
	r.seen, r.ended = nil, false
	if p.Index {
		r.scanner.load, r.scanner.sizes = r.src.opts.Load, true
		r.seen = newKeys(p.File, p.Part, r.src.opts.MaxHeader)
	}
}

func (r *reader) Offset() int64 { return r.window.Offset() }

func (r *reader) End() {
	r.window.End()
	r.scanner.class, r.seen = nil, nil
}

// Next returns the next samples and skipped entries. An index reads no payload, except for Options.Load and between
// headers that are close to each other. The bytes of a sample are in the read buffer, not copied; the last read goes
// past the run, because the next header ends the last sample.
func (r *reader) Next(ctx context.Context, want int64) ([]converters.Span, error) {
	sc := &r.scanner
	r.window.Last = want == 1
	for r.spans = r.spans[:0]; len(r.spans) == 0 && !r.ended; {
		ev, err := sc.next()
		if err != nil {
			return nil, err
		}
		g := &sc.group
		switch ev {
		case eventSkip:
			r.spans = append(r.spans, converters.Span{Off: sc.ahead.off, Entries: 1, Skip: sc.reason, Name: sc.within(sc.ahead.name)})
		case eventBad:
			r.spans = append(r.spans, converters.Span{Off: g.sample.Off, Entries: g.files, Skip: skipBad, Name: g.sample.Key})
		case eventSample:
			err = r.sample(ctx)
		case eventEnd:
			err = r.end()
		}
		if err != nil {
			return nil, err
		}
	}
	return r.spans, nil
}

// sample adds the complete sample. In an index the spans of its accepted defects precede it.
func (r *reader) sample(ctx context.Context) error {
	g := &r.scanner.group
	s := &g.sample
	if r.seen == nil {
		for i := range g.files {
			s.Fields[i].Value = converters.Bytes(r.window.Kept(i))
		}
		r.spans = append(r.spans, converters.Span{Off: s.Off, Entries: g.files, Shape: s})
		return nil
	}
	if err := r.scanner.unlabelled(); err != nil {
		return err
	}
	first, again, err := r.seen.add(ctx, s.Key, s.Off)
	switch {
	case err != nil:
		return err
	case again && !r.src.opts.KeepDuplicates:
		return r.scanner.fail(s.Off, []byte(s.Key), fmt.Errorf("%w key: it was at offset %d, with others between", converters.ErrDuplicate, first), "option on-duplicate-key keep")
	case again:
		r.spans = append(r.spans, converters.Span{Off: s.Off, Skip: acceptedDuplicate, Name: s.Key, Accepted: true})
	}
	if g.pathed {
		r.spans = append(r.spans, converters.Span{Off: s.Off, Skip: acceptedPath, Name: s.Key, Accepted: true})
	}
	if r.first {
		r.first = false
		r.src.tarInTar.Store(len(s.Fields) == 1 && strings.EqualFold(s.Fields[0].Name, "tar"))
	}
	r.spans = append(r.spans, converters.Span{Off: s.Off, Entries: g.files, Shape: s})
	return nil
}

// end reads the end of the tar, or of one of several concatenated tars.
func (r *reader) end() (err error) {
	r.spans, r.ended, err = r.scanner.trailer(&r.src.opts, r.spans)
	return err
}
