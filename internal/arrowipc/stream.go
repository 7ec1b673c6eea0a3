package arrowipc

import (
	"fmt"
	"io"

	"github.com/ffconvert/ffconvert/converters"
)

// A Stream reads messages one after another. Errors are of the kinds of package converters, or those of the file.
type Stream struct {
	Schema *Schema
	w      walker
}

// Open reads the schema that r has between the offsets off and end. The first batch is next.
func Open(r io.ReaderAt, off, end int64) (*Stream, error) {
	s := &Stream{w: walker{r: r, t: &Table{}, off: off, end: end}}
	m, f, err := s.w.message()
	switch {
	case err != nil:
		return nil, err
	case m.size == 0:
		return nil, fmt.Errorf("%w: it has no schema", converters.ErrTruncated)
	}
	if err := s.w.add(f, m); err != nil {
		return nil, err
	}
	s.Schema, s.w.off = s.w.t.Schema, m.End
	return s, nil
}

// Next returns where the next batch lies and turns to what follows it. At the mark of the end of the stream it returns [io.EOF].
func (s *Stream) Next() (*Layout, error) {
	m, f, err := s.w.message()
	switch {
	case err != nil:
		return nil, err
	case m.size == 0:
		return nil, io.EOF
	}
	if err := s.w.add(f, m); err != nil {
		return nil, err
	}
	s.w.off = m.End
	if len(s.w.t.Batches) == 0 {
		return nil, fmt.Errorf("%w: a dictionary", converters.ErrUnsupported)
	}
	m, s.w.t.Batches = s.w.t.Batches[0], s.w.t.Batches[:0]
	return m.place(f, s.Schema.Fields)
}

// Offset returns where the next message begins, or what follows the end.
func (s *Stream) Offset() int64 { return s.w.off }

// SeekTo makes the message at off the next one.
func (s *Stream) SeekTo(off int64) { s.w.off = off }

// Footer returns where the batches of a file of size bytes begin, as its footer says. Nothing is known of what is there.
func Footer(r io.ReaderAt, size int64) (offs []int64, err error) {
	w := walker{r: r, end: size}
	footer, err := w.footer()
	if err != nil {
		return nil, err
	}
	footer.list(footerBatches, blockSize, func(e flat) { offs = append(offs, e.i64(e.at)) })
	if *footer.err != nil {
		return nil, fmt.Errorf("%w: %w", converters.ErrMalformed, *footer.err)
	}
	return offs, nil
}
