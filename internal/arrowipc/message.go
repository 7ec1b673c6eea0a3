package arrowipc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
)

// Kinds of messages.
const (
	messageSchema     = 1
	messageDictionary = 2
	messageBatch      = 3
)

const (
	magic        = "ARROW1"
	fileHead     = 8  // magic and padding
	fileTail     = 10 // size of the footer, magic
	continuation = 0xFFFFFFFF
	mostMeta     = 16 << 20 // bytes of the metadata of a message
	mostRows     = math.MaxInt32
	messageBytes = 128 // approximate memory of a Message
)

// A Message is the place of a record batch or of the values of a dictionary. Offsets are in the file.
type Message struct {
	Off   int64
	meta  int64 // offset of its metadata
	size  int64 // bytes of its metadata
	body  int64 // offset of its body
	End   int64 // offset of the end of its body
	Rows  int64
	First int64 // ordinal of the first row of a batch
	ID    int64 // of a dictionary; −1: a batch
	Delta bool  // the values extend the dictionary
	Known int   // number of entries in Table.Dicts that precede a batch: it may use only these
}

// A Table is the metadata of a file or a stream.
type Table struct {
	*Schema
	Batches []Message
	Dicts   []Message
	Rows    int64
	Bytes   int64 // approximate memory of the metadata
	End     int64 // offset of the end of the last message
}

// Read reads the metadata, and no bodies, of all messages of a file or a stream of size bytes. Its errors wrap the kinds of
// package converters or errors of r; where names the file in them.
func Read(r io.ReaderAt, where string, size int64) (*Table, error) {
	w := walker{r: r, t: &Table{}, end: size}
	err := w.walk()
	if err == nil {
		return w.t, nil
	}
	return nil, &place.Error{Where: where, Off: w.off, Entry: w.entry(), Err: err, Hint: place.HintOf(err)}
}

// A walker reads messages one after another.
type walker struct {
	r    io.ReaderAt
	t    *Table
	off  int64  // offset of the message or footer being read
	end  int64  // offset of the end of the messages
	what string // name of the thing being read, for errors; "": message n
	n    int
	buf  []byte
}

func (w *walker) entry() string {
	if w.what != "" {
		return w.what
	}
	return fmt.Sprintf("message %d", w.n)
}

// walk reads all messages: of a file by its footer, of a stream from its start.
func (w *walker) walk() error {
	var head [fileHead]byte
	if err := readFull(w.r, head[:min(fileHead, w.end)], 0); err != nil {
		return err
	}
	switch {
	case string(head[:len(magic)]) == magic:
		return w.file()
	case string(head[:4]) == "FEA1":
		return place.WithHint(fmt.Errorf("%w: Feather of version 1", converters.ErrUnsupported), "pyarrow.feather reads it, and writes version 2")
	}
	for {
		m, f, err := w.message()
		if err != nil {
			return err
		}
		if m.size == 0 {
			break
		}
		if err := w.add(f, m); err != nil {
			return err
		}
		w.off = m.End
		w.n++
	}
	switch {
	case w.t.Schema == nil:
		return fmt.Errorf("%w: it has no schema", converters.ErrTruncated)
	case w.off < w.end:
		return fmt.Errorf("%w: %d bytes follow the end of the stream", converters.ErrMalformed, w.end-w.off)
	}
	w.t.End = w.off
	return nil
}

// message reads the metadata of the message at w.off. At the end mark of a stream it returns size 0 and moves w.off behind
// the mark.
func (w *walker) message() (m Message, f flat, err error) {
	left := w.end - w.off
	if left < 4 {
		return m, f, fmt.Errorf("%w: no mark of the end of a stream", converters.ErrTruncated)
	}
	var head [8]byte
	have := min(left, 8)
	if err := readFull(w.r, head[:have], w.off); err != nil {
		return m, f, err
	}
	m = Message{Off: w.off, meta: w.off + 4, size: int64(binary.LittleEndian.Uint32(head[:]))}
	if m.size == continuation {
		m.meta, m.size = w.off+8, int64(binary.LittleEndian.Uint32(head[4:]))
		if have < 8 {
			return m, f, fmt.Errorf("%w: a message of %d bytes", converters.ErrTruncated, have)
		}
	}
	if m.size == 0 {
		w.off = m.meta
		return m, f, nil
	}
	switch left = w.end - m.meta; {
	case m.size > mostMeta:
		return m, f, fmt.Errorf("%w: a message with %d bytes of metadata, or not an Arrow stream", converters.ErrMalformed, m.size)
	case m.size > left:
		return m, f, fmt.Errorf("%w: a message with %d bytes of metadata, %d are left", converters.ErrTruncated, m.size, left)
	}
	if w.buf = w.buf[:min(m.size, int64(cap(w.buf)))]; int64(len(w.buf)) < m.size {
		w.buf = make([]byte, m.size)
	}
	if err := readFull(w.r, w.buf, m.meta); err != nil {
		return m, f, err
	}
	f = flatRoot(w.buf)
	m.body = m.meta + m.size
	space := f.number(3, 8, 0)
	if *f.err != nil {
		return m, f, fmt.Errorf("%w: %w", converters.ErrMalformed, *f.err)
	}
	if left -= m.size; space < 0 || space > left {
		return m, f, fmt.Errorf("%w: a message with a body of %d bytes, %d are left", converters.ErrTruncated, space, left)
	}
	m.End = m.body + space
	return m, f, nil
}

func (w *walker) add(f flat, m Message) (err error) {
	t := w.t
	kind := f.number(1, 1, 0)
	content, ok := f.table(2)
	switch {
	case *f.err != nil:
	case !ok:
		return fmt.Errorf("%w: a message without content", converters.ErrMalformed)
	case kind == messageSchema && t.Schema == nil:
		t.Schema, err = readSchema(content)
		t.Bytes += m.size
		return err
	case t.Schema == nil:
		return fmt.Errorf("%w: it does not begin with a schema", converters.ErrMalformed)
	case kind == messageDictionary:
		m.ID, m.Delta = content.number(0, 8, 0), content.number(2, 1, 0) != 0
		if t.dictionaries[m.ID] == nil {
			return fmt.Errorf("%w: a dictionary %d, which no column has", converters.ErrMalformed, m.ID)
		}
		values, _ := content.table(1)
		m.Rows = values.number(0, 8, 0)
		t.Dicts = append(t.Dicts, m)
	case kind == messageBatch:
		m.Rows, m.First, m.ID, m.Known = content.number(0, 8, 0), t.Rows, -1, len(t.Dicts)
		t.Batches = append(t.Batches, m)
		t.Rows += m.Rows
	default:
		return fmt.Errorf("%w: a message of kind %d", converters.ErrUnsupported, kind)
	}
	t.Bytes += messageBytes
	if *f.err != nil {
		return fmt.Errorf("%w: %w", converters.ErrMalformed, *f.err)
	}
	if m.Rows < 0 || m.Rows > mostRows {
		return fmt.Errorf("%w: %d rows", converters.ErrMalformed, m.Rows)
	}
	return nil
}

// readFull reads len(b) bytes, which the file had before: the error is ErrChanged if it has become shorter.
func readFull(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it became shorter", converters.ErrChanged)
	}
	return err
}
