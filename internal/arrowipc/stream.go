package arrowipc

import (
	"fmt"
	"io"

	"github.com/ffconvert/ffconvert/converters"
)

// A Stream reads messages one after another. Its errors wrap the kinds of package converters or errors of the file.
type Stream struct {
	Schema *Schema
	w      walker
}

// Open reads the schema at off. The stream ends at end. Next then returns the first batch.
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

// Next returns the layout of the next batch and moves to the message behind it. At the end mark of the stream it returns
// [io.EOF].
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

// Offset returns the offset of the next message or, after [io.EOF], of the bytes behind the end mark.
func (s *Stream) Offset() int64 { return s.w.off }

// SeekTo makes the message at off the next one.
func (s *Stream) SeekTo(off int64) { s.w.off = off }

// Footer returns the offsets of the batches in the footer of a file of size bytes. It does not verify them.
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
