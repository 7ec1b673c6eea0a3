// Package arrowipc reads Arrow IPC messages from files that may be damaged or hostile.
//
// Package ipc of Arrow allocates what the metadata of a message says, and panics where it makes no sense.
// A [Messages] checks the sizes first. Format: https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc
package arrowipc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// ErrMalformed reports a message that makes no sense, or one of a kind that this package does not read:
// compressed bodies, dictionaries, tensors, and columns of lists and structures unless they are asked for.
var ErrMalformed = errors.New("bad Arrow message")

const (
	continuation = 0xffffffff
	headSize     = 8        // continuation and size of the metadata
	maxMeta      = 16 << 20 // bytes; a message of 1,000 columns has about 100 KB
)

// Messages reads the messages of a stream one after another. It is an [ipc.MessageReader]. The bytes of a
// message are valid until the next one.
type Messages struct {
	r        io.ReaderAt
	off, end int64
	buf      []byte
	last     *ipc.Message
	shape    shape // of batches
	err      error
}

// NewMessages reads the messages of r between the offsets off and end.
func NewMessages(r io.ReaderAt, off, end int64) *Messages {
	return &Messages{r: r, off: off, end: end}
}

// AllowNested accepts columns of lists, structs and maps from here on.
func (m *Messages) AllowNested() { m.shape.nested = true }

// Offset returns where the next message begins.
func (m *Messages) Offset() int64 { return m.off }

// SeekTo makes off, an Offset of this Messages, the begin of the next message.
func (m *Messages) SeekTo(off int64) { m.off = off }

// Err returns the last error of Message or Batch: Arrow's reader returns another, without its cause.
func (m *Messages) Err() error { return m.err }

// Message returns the next message, or [io.EOF] after the last. Other errors are [ErrMalformed] or that of
// the file.
func (m *Messages) Message() (msg *ipc.Message, err error) {
	defer func() { m.err = err }()
	h, err := m.head(nil)
	if err != nil {
		return nil, err
	}
	size := h.meta + h.body
	if int64(cap(m.buf)) < size {
		m.buf = make([]byte, size) // at most what is left of the file
	}
	b := m.buf[:size]
	if err := readFull(m.r, b, m.off+headSize); err != nil {
		return nil, err
	}
	m.off += headSize + size
	m.Release()
	m.last = ipc.NewMessage(memory.NewBufferBytes(b[:h.meta:h.meta]), memory.NewBufferBytes(b[h.meta:]))
	return m.last, nil
}

// A Batch is where the columns of a record batch lie.
type Batch struct {
	Rows    int64
	Columns []Column // in the order of the schema
}

// A Column is where a column of a batch lies. The first buffer of all kinds but null is a bit a row, set unless the
// row is null; it may be empty where Nulls is 0.
type Column struct {
	Nulls   int64
	Buffers []Buffer
}

// A Buffer is a range of bytes of the file, between the offsets of the Messages.
type Buffer struct{ Off, Size int64 }

// Batch skips the next message and returns where its columns lie. A message of another kind has no rows and no
// columns. Nothing is known of the bytes in the buffers, nor whether a buffer is long enough for the rows.
func (m *Messages) Batch() (b Batch, err error) {
	defer func() { m.err = err }()
	h, err := m.head(&b)
	if err != nil {
		return Batch{}, err
	}
	body := m.off + headSize + h.meta
	for _, c := range b.Columns {
		for i := range c.Buffers {
			c.Buffers[i].Off += body
		}
	}
	m.off = body + h.body
	return b, nil
}

// Retain and Release are methods of an [ipc.MessageReader]. A Messages holds nothing that must be released.
func (m *Messages) Retain() {}

// Release forgets the last message.
func (m *Messages) Release() {
	if m.last != nil {
		m.last.Release()
		m.last = nil
	}
}

// head reads and checks the metadata of the next message. Where batch is not nil it is set, with offsets in the body.
func (m *Messages) head(batch *Batch) (h head, err error) {
	var fixed [headSize]byte
	if m.off == m.end {
		return h, io.EOF
	}
	if m.end-m.off < headSize {
		return h, fmt.Errorf("%w: %d bytes are left for it", ErrMalformed, m.end-m.off)
	}
	if err := readFull(m.r, fixed[:], m.off); err != nil {
		return h, err
	}
	mark, size := binary.LittleEndian.Uint32(fixed[:]), binary.LittleEndian.Uint32(fixed[4:])
	left := m.end - m.off - headSize
	switch {
	case mark != continuation:
		return h, fmt.Errorf("%w: it begins with %08x", ErrMalformed, mark)
	case size == 0:
		return h, io.EOF
	case size > maxMeta || int64(size) > left:
		return h, fmt.Errorf("%w: %d bytes of metadata", ErrMalformed, size)
	}
	meta := make([]byte, size)
	if err := readFull(m.r, meta, m.off+headSize); err != nil {
		return h, err
	}
	h, err = parse(meta, &m.shape, batch)
	if err == nil && h.body > left-h.meta {
		err = fmt.Errorf("%w: a body of %d bytes, %d are left", ErrMalformed, h.body, left-h.meta)
	}
	return h, err
}

func readFull(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
