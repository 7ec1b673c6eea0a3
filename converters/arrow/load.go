package arrow

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

const (
	mostFiles  = 8        // columns that are read through a file of their own, which reads ahead
	smallRange = 64 << 10 // bytes of values that are read at once
	firstRead  = 4 << 10  // of a stream, bytes
	readWindow = 1 << 20
	chunkBytes = 4 << 20 // about so many bytes of buffers are in memory, the values of bytes aside
	mostChunk  = 8192    // rows
)

// A stream reads the bytes of a column one value after another.
type stream struct {
	file converters.File
	w    scan.Window
	of   span
}

// load reads the next rows of a batch, unless they are in memory.
func (r *reader) load(b *batch) error {
	if r.layout == nil {
		l, err := place(r.shared, b.message, r.table.fields)
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
	var chosen []*column
	for _, c := range r.layout.columns {
		if len(chosen) < len(r.fields) && c.field == r.fields[len(chosen)] {
			chosen = append(chosen, c)
			bytes += c.bytes(true)
		}
	}
	count := min(max(int64(float64(b.rows)*chunkBytes/float64(bytes)), 1), mostChunk, b.rows-r.row, r.left)
	r.arrays = r.arrays[:0]
	for _, c := range chosen {
		which := r.which(c.field)
		a, err := r.array(&r.loader, c, r.row, count, which)
		if err != nil {
			r.broken = c.field
			return err
		}
		r.arrays = append(r.arrays, a)
	}
	r.from, r.to = r.row, r.row+count
	return nil
}

// bytes is the size of the buffers of a column, without the bytes of values of the first level.
func (c *column) bytes(top bool) int64 {
	n := c.valid.size + c.data.size
	for _, s := range c.more {
		if !top || c.shape == shapeListV {
			n += s.size
		}
	}
	for _, child := range c.children {
		n += child.bytes(top && c.payload == child.field)
	}
	return n
}

func (r *reader) newLoader(l *layout, room *int64) loader {
	return loader{r: r.shared, codec: l.codec, limit: r.src.opts.MaxBatch, room: room, expanded: make(map[span][]byte), expander: &r.expander, part: r.number, kept: &r.src.kept}
}

// A word is values of a dictionary, of one message.
type word struct {
	*array
	off  int64 // of the message
	cost int64 // of Options.MaxBatch
}

// dictionary returns the values of the dictionary of a field, as the batch knows them.
func (r *reader) dictionary(x *field) ([]word, error) {
	var use []message
	for _, m := range r.table.dicts[:r.table.batches[r.batch].known] {
		if m.id == x.id {
			if !m.delta {
				use = use[:0]
			}
			use = append(use, m)
		}
	}
	if use == nil {
		return nil, fmt.Errorf("%w: no dictionary %d before it", converters.ErrMalformed, x.id)
	}
	had := r.words[x]
	if len(had) > 0 && had[0].off != use[0].off { // they were replaced
		for _, w := range had {
			r.wordRoom += w.cost
		}
		had = nil
	}
	for _, m := range use[len(had):] {
		l, err := place(r.shared, m, []*field{x.values})
		if err != nil {
			return nil, err
		}
		before := r.wordRoom
		loader := r.newLoader(l, &r.wordRoom)
		a, err := r.array(&loader, l.columns[0], 0, m.rows, bytesAll)
		if err != nil {
			return nil, err
		}
		had = append(had, word{a, m.off, before - r.wordRoom})
	}
	r.words[x] = had
	return had, nil
}

// stream returns bytes of a column, which are read in order. They are valid until the next value of the column.
func (r *reader) stream(a *array, from, size int64) ([]byte, error) {
	s := r.own[a.field]
	if s == nil {
		s = &stream{}
		if len(r.own) < mostFiles {
			f, err := r.src.open(r.part, r.how)
			if err != nil {
				return nil, err
			}
			s.file = f
		}
		r.own[a.field] = s
	}
	at := a.plain.off + from
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
		s.w.Reset(f, a.plain.off+a.plain.size, at, sizes)
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
