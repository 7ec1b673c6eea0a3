package folder

import (
	"context"
	"fmt"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/ahead"
)

// A reader reads one run, or indexes one part. Readers are reused.
type reader struct {
	hand   hand
	names  sampleNames
	sample converters.Sample
	own    []byte // for a sample that is not read ahead
	arena  []byte // for samples that are read ahead; allocated when needed
}

// reader returns a reader for a part. The caller must call done.
func (s *Source) reader(p *part, l *listing) *reader {
	r, _ := s.readers.Get().(*reader)
	if r == nil {
		r = &reader{}
	}
	r.hand = hand{src: s, part: p, l: l}
	return r
}

func (s *Source) done(r *reader) {
	r.hand.Close()
	r.hand = hand{}
	s.readers.Put(r)
}

// Read yields the samples of a run. While the caller uses a sample, the files of the next ones are read.
// The sample of a run of one, and a large sample, is read when the caller asks for it.
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
	p := &s.dirs[run.Part]
	if err := ctx.Err(); err != nil {
		return p.fail("", err, "")
	}
	l, err := s.listing(ctx, p)
	if err != nil {
		return err
	}
	if err := l.check(run); err != nil {
		return p.fail("", err, "")
	}
	r := s.reader(p, l)
	defer s.done(r)
	first := int(run.First)
	n := int(min(run.Count, int64(l.samples()-first)))
	read := r.Alone
	if n > 1 {
		a := ahead.Start(r, first, n, r.arena)
		defer func() { r.arena = a.Stop() }()
		read = a.Next
	}
	for i := first; i < first+n; i++ {
		if err := ctx.Err(); err != nil {
			return p.fail("", err, "")
		}
		b, err := read(i)
		if err != nil {
			return err
		}
		if err := r.fill(i, b); err != nil {
			return err
		}
		if !yield(&r.sample, nil) {
			return nil
		}
	}
	if int64(n) < run.Count {
		return p.fail("", fmt.Errorf("%w: it has %d samples, %d were to be read from sample %d on", converters.ErrChanged, l.samples(), run.Count, run.First), "")
	}
	return nil
}

// check returns an error if the first sample of a run is at another offset in the listing.
func (l *listing) check(run converters.Run) error {
	if run.First < 0 || run.First >= int64(l.samples()) {
		return fmt.Errorf("%w: it has %d samples, %d were to be read from sample %d on", converters.ErrChanged, l.samples(), run.Count, run.First)
	}
	from, _ := l.extent(int(run.First))
	if off := l.off(from); off != run.Off {
		return fmt.Errorf("%w: sample %d was at offset %d, it is at %d", converters.ErrChanged, run.First, run.Off, off)
	}
	return nil
}

// shape sets the reader's sample to the shape of the files, and reads the fields of Options.Load.
func (r *reader) shape(from, to int) error {
	h := &r.hand
	if err := h.l.fields(&r.sample, &h.src.opts, &r.names, from, to, int64(h.part.num)); err != nil {
		return h.part.fail(r.sample.Key, err, "")
	}
	load := h.src.opts.Load
	if load == nil {
		return nil
	}
	fields := r.sample.Fields[:to-from] // without the class
	total := int64(0)
	for _, f := range fields {
		if load(f.Name) {
			total += f.Value.Len()
		}
	}
	b := r.buffer(total)
	for i := range fields {
		if f := &fields[i]; load(f.Name) {
			n := f.Value.Len()
			if err := h.file(from+i, b[:n]); err != nil {
				return err
			}
			f.Value, b = converters.Bytes(b[:n:n]), b[n:]
		}
	}
	return nil
}

// Size returns the bytes of the files of a sample; see [ahead.Source].
func (r *reader) Size(sample int) int64 { return r.hand.l.bytes(sample) }

// Worker returns a hand of its own for the part.
func (r *reader) Worker() ahead.Worker {
	return &hand{src: r.hand.src, part: r.hand.part, l: r.hand.l}
}

// Alone reads the bytes of one sample.
func (r *reader) Alone(sample int) ([]byte, error) {
	b := r.buffer(r.hand.l.bytes(sample))
	return b, r.hand.Read(sample, b)
}

// maxSlack limits the bytes that buffer allocates beyond n, so that it need not grow for each sample.
const maxSlack = 16 << 20

// buffer returns n bytes, valid until the next call. n is within Options.MaxSample.
func (r *reader) buffer(n int64) []byte {
	if n > int64(len(r.own)) {
		r.own = nil // so that both are not in memory at once
		r.own = make([]byte, n+min(n/4, maxSlack))
	}
	return r.own[:n]
}

// Read reads the files of one sample into b, one after the other.
func (h *hand) Read(sample int, b []byte) error {
	from, to := h.l.extent(sample)
	for i := from; i < to; i++ {
		n := int(h.l.size(i))
		if err := h.file(i, b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// fill sets the reader's sample, with the bytes b.
func (r *reader) fill(sample int, b []byte) error {
	l := r.hand.l
	from, to := l.extent(sample)
	if err := l.fields(&r.sample, &r.hand.src.opts, &r.names, from, to, int64(r.hand.part.num)); err != nil {
		return r.hand.part.fail(r.sample.Key, err, "")
	}
	for i := from; i < to; i++ {
		n := l.size(i)
		r.sample.Fields[i-from].Value = converters.Bytes(b[:n:n])
		b = b[n:]
	}
	return nil
}
