package folder

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/files"
)

// acceptedDuplicate is the Span.Skip of a key that Options.KeepDuplicates accepts.
const acceptedDuplicate = "key that came back"

// mostSkips is how many skipped entries an index returns at once.
const mostSkips = 64

// A reader reads one run, or indexes one part. Readers are reused.
type reader struct {
	hand   hand
	names  sampleNames
	sample converters.Sample
	own    []byte // buffer for a sample that is not read ahead
	arena  []byte // buffer for samples that are read ahead; allocated when needed

	run   converters.Run
	index bool
	next  int // next sample
	end   int
	skips []skip // of the listing, from the next sample on
	spans []converters.Span
	ahead *files.Ahead // nil: samples are read on demand
}

// Begin lists the part if necessary. In a run of several samples it reads the files of the next ones while the caller
// uses a sample.
func (r *reader) Begin(ctx context.Context, p *scan.Pass) error {
	d := &r.hand.src.dirs[p.Run.Part]
	l, err := r.hand.src.listing(ctx, d)
	if err != nil {
		return err
	}
	r.hand.part, r.hand.l, r.run, r.index = d, l, p.Run, p.Index
	r.next, r.end, r.skips = 0, l.samples(), l.rare().skips
	if p.Index {
		return nil
	}
	if err := l.check(p.Run); err != nil {
		return d.fail("", err, "")
	}
	r.next = int(p.Run.First)
	n := int(min(p.Run.Count, int64(r.end-r.next)))
	r.end = r.next + n
	if n > 1 {
		r.ahead = files.ReadAhead(r, r.next, n, r.arena)
	}
	return nil
}

// Offset returns -1: errors name a file instead.
func (r *reader) Offset() int64 { return -1 }

// End stops reading ahead.
func (r *reader) End() {
	if r.ahead != nil {
		r.arena, r.ahead = r.ahead.Stop(), nil
	}
	r.hand.Close()
	r.hand = hand{src: r.hand.src}
}

// Next returns the next sample or skipped entries. An index opens only directories, and the files that Options.Load
// selects. A large sample is read on demand.
func (r *reader) Next(context.Context, int64) ([]converters.Span, error) {
	r.spans = r.spans[:0]
	if r.index {
		return r.spans, r.shapes()
	}
	if r.next == r.end {
		return nil, r.hand.part.fail("", r.hand.l.ends(r.run), "")
	}
	read := r.Alone
	if r.ahead != nil {
		read = r.ahead.Next
	}
	b, err := read(r.next)
	if err == nil {
		err = r.fill(r.next, b)
	}
	r.next++
	r.spans = append(r.spans, converters.Span{Off: r.sample.Off, Shape: &r.sample})
	return r.spans, err
}

// shapes adds the next spans of the listing: the entries skipped before the next sample, or the sample.
func (r *reader) shapes() error {
	l, i := r.hand.l, r.next
	from, to := len(l.files), len(l.files)
	if i < r.end {
		from, to = l.extent(i)
	}
	for ; len(r.skips) > 0 && int(r.skips[0].before) <= from && len(r.spans) < mostSkips; r.skips = r.skips[1:] {
		k := r.skips[0]
		r.spans = append(r.spans, converters.Span{Off: l.off(from), Entries: 1, Skip: l.names.kind(k.name).skipped(), Name: l.path(k.dir, k.name)})
	}
	if len(r.spans) > 0 || i == r.end {
		return nil
	}
	if err := r.shape(from, to); err != nil {
		return err
	}
	r.next++
	odd := converters.Span{Off: r.sample.Off, Name: r.sample.Key, Accepted: true}
	if l.lacks(i) {
		odd.Skip = kindUnpaired.skipped()
		r.spans = append(r.spans, odd)
	}
	if l.repeats(i) {
		odd.Skip = acceptedDuplicate
		r.spans = append(r.spans, odd)
	}
	r.spans = append(r.spans, converters.Span{Off: r.sample.Off, Entries: to - from, Shape: &r.sample, ModTime: l.newest(from, to)})
	return nil
}

// check returns an error if the first sample of a run is at another offset in the listing.
func (l *listing) check(run converters.Run) error {
	if run.First < 0 || run.First >= int64(l.samples()) {
		return l.ends(run)
	}
	from, _ := l.extent(int(run.First))
	if off := l.off(from); off != run.Off {
		return fmt.Errorf("%w: sample %d was at offset %d, it is at %d", converters.ErrChanged, run.First, run.Off, off)
	}
	return nil
}

// ends returns the error for a run with more samples than the listing.
func (l *listing) ends(run converters.Run) error {
	return fmt.Errorf("%w: it has %d samples, %d were to be read from sample %d on", converters.ErrChanged, l.samples(), run.Count, run.First)
}

// fields sets the key and the fields of the reader's sample, with sizes only, to those of these files and of their class.
func (r *reader) fields(from, to int) error {
	s, l, opts := &r.sample, r.hand.l, &r.hand.src.opts
	s.Off, s.Fields = l.off(from), s.Fields[:0]
	for i := from; i < to; i++ {
		dir, base := l.names.text(l.files[i].dir), l.names.name(l.files[i].name)
		end, suffix := opts.split(dir, base)
		if i == from {
			r.names.key = append(append(r.names.key[:0], dir...), base[:end]...)
			s.Key = string(r.names.key)
		}
		name, err := r.names.fields.Of(suffix)
		if err != nil {
			return r.hand.part.fail(s.Key, err, "")
		}
		if rules := l.rare().rules; rules != nil && rules[i] > 0 {
			name = cmp.Or(opts.Pairs[rules[i]-1].Field, name)
		}
		s.Fields = append(s.Fields, converters.Field{Name: name, Value: converters.Opaque(l.size(i))})
	}
	if class := int64(r.hand.part.num); class >= 0 {
		s.Fields = append(s.Fields, converters.Field{Name: fieldClass, Value: converters.Int(class)})
	}
	return nil
}

// shape sets the reader's sample to the shape of the files, and reads the fields of Options.Load.
func (r *reader) shape(from, to int) error {
	h := &r.hand
	if err := r.fields(from, to); err != nil {
		return err
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

// Size returns the total bytes of the files of a sample; see [files.ReadAhead].
func (r *reader) Size(sample int) int64 { return r.hand.l.bytes(sample) }

// Worker returns a new hand for the part.
func (r *reader) Worker() files.Worker {
	return &hand{src: r.hand.src, part: r.hand.part, l: r.hand.l}
}

// Alone reads one sample without reading ahead.
func (r *reader) Alone(sample int) ([]byte, error) {
	b := r.buffer(r.hand.l.bytes(sample))
	return b, r.hand.Read(sample, b)
}

// maxSlack limits the bytes that buffer allocates beyond n, so that it need not grow for each sample.
const maxSlack = 16 << 20

// buffer returns n bytes, valid until the next call. n is within Options.MaxSample.
func (r *reader) buffer(n int64) []byte {
	if n > int64(len(r.own)) {
		r.own = nil // the old buffer can be freed before the new one is allocated
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

// fill sets the reader's sample to one with the bytes b.
func (r *reader) fill(sample int, b []byte) error {
	l := r.hand.l
	from, to := l.extent(sample)
	if err := r.fields(from, to); err != nil {
		return err
	}
	for i := from; i < to; i++ {
		n := l.size(i)
		r.sample.Fields[i-from].Value = converters.Bytes(b[:n:n])
		b = b[n:]
	}
	return nil
}
