package arrow

import (
	"fmt"
	"io"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
)

// Compressions of buffers.
const (
	codecNone = -1
	codecLZ4  = 0
	codecZstd = 1
)

// mostRowsIn is how many rows a byte may hold, in compressed buffers and in others: rows of nothing but nulls take no bytes, and
// would let a small file claim any number.
var mostRowsIn = map[bool]int64{false: 8, true: 1 << 16}

// A span is a range of the file.
type span struct{ off, size int64 }

// A column is where the values of a field lie in a batch.
type column struct {
	*field
	rows, nulls int64
	valid       span   // bits
	data        span   // values, or offsets
	more        []span // bytes
	children    []*column
}

// A layout is a batch, or the values of a dictionary, with its columns.
type layout struct {
	message
	codec   int64
	columns []*column
}

// A placer gives the nodes and buffers of a batch to fields, in their order.
type placer struct {
	nodes    []span // rows and nulls
	buffers  []span
	variadic []int64
	err      error
}

// place reads the metadata of a batch of fields.
func place(r io.ReaderAt, m message, fields []*field) (*layout, error) {
	b := make([]byte, m.size)
	if err := columns.ReadFull(r, b, m.meta); err != nil {
		return nil, err
	}
	root := flatRoot(b)
	f, _ := root.table(2)
	if m.id >= 0 {
		f, _ = f.table(1)
	}
	l := &layout{message: m, codec: codecNone}
	if c, ok := f.table(3); ok {
		l.codec = c.number(0, 1, 0)
		if l.codec != codecLZ4 && l.codec != codecZstd {
			return nil, fmt.Errorf("%w: compression %d", converters.ErrUnsupported, l.codec)
		}
	}
	if most := mostRowsIn[l.codec != codecNone]; m.rows > most*(m.size+m.space) {
		return nil, fmt.Errorf("%w: %d rows in %d bytes", converters.ErrLimit, m.rows, m.size+m.space)
	}
	var p placer
	pair := func(to *[]span) func(flat) {
		return func(e flat) { *to = append(*to, span{e.i64(e.at), e.i64(e.at + 8)}) }
	}
	f.list(1, 16, pair(&p.nodes))
	f.list(2, 16, pair(&p.buffers))
	f.list(4, 8, func(e flat) { p.variadic = append(p.variadic, e.i64(e.at)) })
	if *root.err != nil {
		return nil, fmt.Errorf("%w: %w", converters.ErrMalformed, *root.err)
	}
	for i, s := range p.buffers {
		if s.off < 0 || s.size < 0 || s.off > m.space || s.size > m.space-s.off {
			return nil, fmt.Errorf("%w: buffer %d has %d bytes at %d of a body of %d", converters.ErrMalformed, i, s.size, s.off, m.space)
		}
		p.buffers[i].off += m.body
	}
	for _, x := range fields {
		l.columns = append(l.columns, p.column(x, m.rows))
	}
	if p.err == nil && len(p.nodes)+len(p.buffers) > 0 {
		p.err = fmt.Errorf("%w: %d columns and %d buffers more than its schema", converters.ErrMalformed, len(p.nodes), len(p.buffers))
	}
	return l, p.err
}

func (p *placer) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%w: %s", converters.ErrMalformed, fmt.Sprintf(format, args...))
	}
}

// buffer returns the next buffer.
func (p *placer) buffer(x *field) span {
	if len(p.buffers) == 0 {
		p.fail("no buffer for column %q", x.path())
		return span{}
	}
	s := p.buffers[0]
	p.buffers = p.buffers[1:]
	return s
}

// column places a field of rows values; −1: as many as its node says.
func (p *placer) column(x *field, rows int64) *column {
	c := &column{field: x}
	if len(p.nodes) == 0 {
		p.fail("nothing for column %q", x.path())
		return c
	}
	c.rows, c.nulls = p.nodes[0].off, p.nodes[0].size
	p.nodes = p.nodes[1:]
	if c.rows < 0 || c.nulls < 0 || c.nulls > c.rows || c.rows > 1<<40 || rows >= 0 && c.rows != rows {
		p.fail("column %q has %d values, %d of them null, where there are %d rows", x.path(), c.rows, c.nulls, rows)
		return c
	}
	if x.shape == shapeNull {
		return c
	}
	c.valid = p.buffer(x)
	inside := int64(-1)
	switch x.shape {
	case shapeFixed, shapeBits, shapeList, shapeMap:
		c.data = p.buffer(x)
	case shapeBytes, shapeListV:
		c.data, c.more = p.buffer(x), []span{p.buffer(x)}
	case shapeView:
		c.data = p.buffer(x)
		if len(p.variadic) == 0 || p.variadic[0] < 0 || p.variadic[0] > int64(len(p.buffers)) {
			p.fail("no number of buffers for column %q", x.path())
			return c
		}
		n := p.variadic[0]
		c.more, p.buffers, p.variadic = p.buffers[:n:n], p.buffers[n:], p.variadic[1:]
	case shapeStruct:
		inside = c.rows
	case shapeFixedL:
		if x.size > 0 && c.rows > (1<<40)/x.size {
			p.fail("column %q has %d lists of %d elements", x.path(), c.rows, x.size)
		}
		inside = c.rows * x.size
	}
	for _, child := range x.children {
		if p.err != nil {
			break
		}
		n := inside
		// A slice of a struct or of lists of one size may have longer children, which begin at the same value.
		d := p.column(child, -1)
		if n >= 0 && d.rows < n {
			p.fail("column %q has %d values, where %d are needed", child.path(), d.rows, n)
		}
		c.children = append(c.children, d)
	}
	return c
}
