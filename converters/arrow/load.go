package arrow

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/arrowipc"
)

const (
	mostFiles  = 8        // columns that are read through separate files, each with read-ahead
	smallRange = 64 << 10 // bytes of values per read
	firstRead  = 4 << 10  // bytes of the first read of a stream
	readWindow = 1 << 20
	chunkBytes = 4 << 20 // approximate bytes of buffers in memory, without the bytes of values
	mostChunk  = 8192    // rows per chunk
)

// A stream reads the bytes of a column value by value.
type stream struct {
	file converters.File
	w    scan.Window
	of   arrowipc.Span
}

// mostRowsIn is the maximum number of rows per byte, for compressed buffers (true) and others: rows of only nulls take
// no bytes, and so a small file could claim any number of rows.
var mostRowsIn = map[bool]int64{false: 8, true: 1 << 16}

// place reads the layout of a batch of fields, or of the values of a dictionary.
func (r *reader) place(m arrowipc.Message, fields []*arrowipc.Field) (*arrowipc.Layout, error) {
	l, err := m.Place(r.shared, fields)
	if err != nil {
		return nil, err
	}
	if size := m.End - m.Off; m.Rows > mostRowsIn[l.Codec != ""]*size {
		return nil, fmt.Errorf("%w: %d rows in %d bytes", converters.ErrLimit, m.Rows, size)
	}
	return l, nil
}

// load reads the next rows of a batch, unless they are in memory.
func (r *reader) load(b *arrowipc.Message) error {
	if r.layout == nil {
		l, err := r.place(*b, r.table.Fields)
		if err != nil {
			return err
		}
		r.layout, r.from, r.to = l, 0, 0
		r.room = r.src.opts.MaxBatch
		r.loader = r.newLoader(l, &r.room)
	}
	if r.row >= r.from && r.row < r.to {
		return nil
	}
	bytes := int64(1)
	var chosen []*arrowipc.Column
	for _, c := range r.layout.Columns {
		if len(chosen) < len(r.fields) && c.Field == r.fields[len(chosen)] {
			chosen = append(chosen, c)
			bytes += sizeOf(c, true)
		}
	}
	count := min(max(int64(float64(b.Rows)*chunkBytes/float64(bytes)), 1), mostChunk, b.Rows-r.row, r.left)
	r.arrays = r.arrays[:0]
	for _, c := range chosen {
		which := r.which(c.Field)
		a, err := r.array(&r.loader, c, r.row, count, which)
		if err != nil {
			r.broken = c.Field
			return err
		}
		r.arrays = append(r.arrays, a)
	}
	r.from, r.to = r.row, r.row+count
	return nil
}

// sizeOf returns the size of the buffers of a column, without the bytes of first-level values.
func sizeOf(c *arrowipc.Column, top bool) int64 {
	n := c.Valid.Size + c.Data.Size
	for _, s := range c.More {
		if !top || c.Shape == arrowipc.ShapeListView {
			n += s.Size
		}
	}
	for _, child := range c.Children {
		n += sizeOf(child, top && c.Payload == child.Field)
	}
	return n
}

func (r *reader) newLoader(l *arrowipc.Layout, room *int64) loader {
	return loader{r: r.shared, codec: l.Codec, limit: r.src.opts.MaxBatch, room: room, expanded: make(map[arrowipc.Span][]byte), expander: &r.expander, part: r.number, kept: r.src.kept}
}

// A word is the values of a dictionary from one message.
type word struct {
	*array
	off  int64 // offset of the message
	cost int64 // bytes charged to Options.MaxBatch
}

// dictionary returns the values of a field's dictionary that apply to the current batch.
func (r *reader) dictionary(x *arrowipc.Field) ([]word, error) {
	var use []arrowipc.Message
	for _, m := range r.table.Dicts[:r.table.Batches[r.batch].Known] {
		if m.ID == x.ID {
			if !m.Delta {
				use = use[:0]
			}
			use = append(use, m)
		}
	}
	if use == nil {
		return nil, fmt.Errorf("%w: no dictionary %d before it", converters.ErrMalformed, x.ID)
	}
	had := r.words[x]
	if len(had) > 0 && had[0].off != use[0].Off { // the dictionary was replaced
		for _, w := range had {
			r.wordRoom += w.cost
		}
		had = nil
	}
	for _, m := range use[len(had):] {
		l, err := r.place(m, []*arrowipc.Field{x.Values})
		if err != nil {
			return nil, err
		}
		before := r.wordRoom
		loader := r.newLoader(l, &r.wordRoom)
		a, err := r.array(&loader, l.Columns[0], 0, m.Rows, bytesAll)
		if err != nil {
			return nil, err
		}
		had = append(had, word{a, m.Off, before - r.wordRoom})
	}
	r.words[x] = had
	return had, nil
}

// stream returns bytes of a column, which must be requested in order. They are valid until the next value of the
// column.
func (r *reader) stream(a *array, from, size int64) ([]byte, error) {
	s := r.own[a.Field]
	if s == nil {
		s = &stream{}
		if len(r.own) < mostFiles {
			f, err := r.src.open(r.part, r.how)
			if err != nil {
				return nil, err
			}
			s.file = f
		}
		r.own[a.Field] = s
	}
	at := a.plain.Off + from
	if s.of != a.plain || at < s.w.Offset() {
		s.of = a.plain
		var f converters.File = r.shared
		if s.file != nil {
			f = s.file
		}
		sizes := scan.Sizes{First: readWindow, Usual: readWindow}
		if r.left == 1 || r.index {
			sizes.First = firstRead
		}
		s.w.Reset(f, a.plain.Off+a.plain.Size, at, sizes)
	}
	s.w.Relax()
	s.w.Skip(at - s.w.Offset())
	b, err := s.w.Peek(int(size))
	if err != nil {
		return nil, err
	}
	s.w.Pos += int(size)
	return b[:size:size], nil
}
