package arrow

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
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
	messageBytes = 128 // of memory of a message, about
)

// A message is where a record batch or the values of a dictionary lie.
type message struct {
	off   int64 // of the message
	meta  int64 // of its metadata
	size  int64 // of its metadata
	body  int64
	space int64 // bytes of the body
	rows  int64
	first int64 // ordinal of the first row of a batch
	id    int64 // of a dictionary; −1: a batch
	delta bool  // its values follow those that the dictionary has
}

// A batch is a record batch with the dictionaries that it uses.
type batch struct {
	message
	known int // dictionaries before it
}

// A table is what the metadata of a part says.
type table struct {
	*reading
	batches []batch
	dicts   []message
	rows    int64
	bytes   int64 // of memory, about
	end     int64 // of the last message
}

// readTable reads the metadata of all messages of a part, but nothing else.
func readTable(p converters.Part, f io.ReaderAt) (*table, error) {
	w := walker{r: f, t: &table{}, end: p.Size}
	err := w.walk()
	if err == nil {
		return w.t, nil
	}
	return nil, columns.Place(converters.Error{Where: p.Name, Off: w.off, Entry: w.entry()}, err)
}

// A walker walks messages.
type walker struct {
	r    io.ReaderAt
	t    *table
	off  int64  // of what is read
	end  int64  // of the messages
	what string // that is read; "": a message
	n    int    // messages before it
	buf  []byte
}

func (w *walker) entry() string {
	if w.what != "" {
		return w.what
	}
	return fmt.Sprintf("message %d", w.n)
}

// walk reads a file by its footer, and a stream from its start.
func (w *walker) walk() error {
	var head [fileHead]byte
	if err := columns.ReadFull(w.r, head[:min(fileHead, w.end)], 0); err != nil {
		return err
	}
	switch {
	case string(head[:len(magic)]) == magic:
		return w.file()
	case string(head[:4]) == "FEA1":
		return &columns.Hinted{Err: fmt.Errorf("%w: Feather of version 1", converters.ErrUnsupported), Hint: "pyarrow.feather reads it, and writes version 2"}
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
		w.off = m.body + m.space
		w.n++
	}
	switch {
	case w.t.reading == nil:
		return fmt.Errorf("%w: it has no schema", converters.ErrTruncated)
	case w.off < w.end:
		return fmt.Errorf("%w: %d bytes follow the end of the stream", converters.ErrMalformed, w.end-w.off)
	}
	w.t.end = w.off
	return nil
}

// message reads the metadata of the message at w.off. Its size is 0 at the end of a stream, which w.off then follows.
func (w *walker) message() (m message, f flat, err error) {
	left := w.end - w.off
	if left < 4 {
		return m, f, fmt.Errorf("%w: no mark of the end of a stream", converters.ErrTruncated)
	}
	var head [8]byte
	have := min(left, 8)
	if err := columns.ReadFull(w.r, head[:have], w.off); err != nil {
		return m, f, err
	}
	m = message{off: w.off, meta: w.off + 4, size: int64(binary.LittleEndian.Uint32(head[:]))}
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
	w.buf = columns.Sized(w.buf, m.size)
	if err := columns.ReadFull(w.r, w.buf, m.meta); err != nil {
		return m, f, err
	}
	f = flatRoot(w.buf)
	m.body, m.space = m.meta+m.size, f.number(3, 8, 0)
	if *f.err != nil {
		return m, f, fmt.Errorf("%w: %w", converters.ErrMalformed, *f.err)
	}
	if left -= m.size; m.space < 0 || m.space > left {
		return m, f, fmt.Errorf("%w: a message with a body of %d bytes, %d are left", converters.ErrTruncated, m.space, left)
	}
	return m, f, nil
}

// add adds a message to the table.
func (w *walker) add(f flat, m message) (err error) {
	t := w.t
	kind := f.number(1, 1, 0)
	content, ok := f.table(2)
	switch {
	case *f.err != nil:
	case !ok:
		return fmt.Errorf("%w: a message without content", converters.ErrMalformed)
	case kind == messageSchema && t.reading == nil:
		t.reading, err = readSchema(content)
		t.bytes += m.size
		return err
	case t.reading == nil:
		return fmt.Errorf("%w: it does not begin with a schema", converters.ErrMalformed)
	case kind == messageDictionary:
		m.id, m.delta = content.number(0, 8, 0), content.number(2, 1, 0) != 0
		if t.dictionaries[m.id] == nil {
			return fmt.Errorf("%w: a dictionary %d, which no column has", converters.ErrMalformed, m.id)
		}
		values, _ := content.table(1)
		m.rows = values.number(0, 8, 0)
		t.dicts = append(t.dicts, m)
	case kind == messageBatch:
		m.rows, m.first, m.id = content.number(0, 8, 0), t.rows, -1
		t.batches = append(t.batches, batch{m, len(t.dicts)})
		t.rows += m.rows
	default:
		return fmt.Errorf("%w: a message of kind %d", converters.ErrUnsupported, kind)
	}
	t.bytes += messageBytes
	if *f.err != nil {
		return fmt.Errorf("%w: %w", converters.ErrMalformed, *f.err)
	}
	if m.rows < 0 || m.rows > mostRows {
		return fmt.Errorf("%w: %d rows", converters.ErrMalformed, m.rows)
	}
	return nil
}
