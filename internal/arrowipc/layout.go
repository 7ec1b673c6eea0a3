package arrowipc

import (
	"fmt"
	"io"

	"github.com/ffconvert/ffconvert/converters"
)

// A Span is a range of the file.
type Span struct{ Off, Size int64 }

// A Column has the places of the values of a field in a batch.
type Column struct {
	*Field
	Rows, Nulls int64
	Valid       Span   // a bit per row, 0: null; may be empty if Nulls is 0
	Data        Span   // values, or offsets
	More        []Span // bytes of the values; for ShapeListView their sizes
	Children    []*Column
}

// A Layout is a batch, or the values of a dictionary, with its columns in the order of the schema. The bytes in the spans
// are not verified, and a span may be too short for the rows.
type Layout struct {
	Message
	Codec   string // compression of buffers: "", "lz4" (a frame), "zstd"
	Columns []*Column
}

// A placer assigns the nodes and buffers of a batch to fields, in order.
type placer struct {
	nodes    []Span // rows and nulls
	buffers  []Span
	variadic []int64
	err      error
}

// Place reads the metadata of a batch with columns for fields.
func (m Message) Place(r io.ReaderAt, fields []*Field) (*Layout, error) {
	b := make([]byte, m.size)
	if err := readFull(r, b, m.meta); err != nil {
		return nil, err
	}
	return m.place(flatRoot(b), fields)
}

func (m Message) place(root flat, fields []*Field) (*Layout, error) {
	f, _ := root.table(2)
	if m.ID >= 0 {
		f, _ = f.table(1)
	}
	l, space := &Layout{Message: m}, m.End-m.body
	if c, ok := f.table(3); ok {
		codec := c.number(0, 1, 0)
		if codec != 0 && codec != 1 {
			return nil, fmt.Errorf("%w: compression %d", converters.ErrUnsupported, codec)
		}
		l.Codec = [...]string{"lz4", "zstd"}[codec]
	}
	var p placer
	pair := func(to *[]Span) func(flat) {
		return func(e flat) { *to = append(*to, Span{e.i64(e.at), e.i64(e.at + 8)}) }
	}
	f.list(1, 16, pair(&p.nodes))
	f.list(2, 16, pair(&p.buffers))
	f.list(4, 8, func(e flat) { p.variadic = append(p.variadic, e.i64(e.at)) })
	if *root.err != nil {
		return nil, fmt.Errorf("%w: %w", converters.ErrMalformed, *root.err)
	}
	for i, s := range p.buffers {
		if s.Off < 0 || s.Size < 0 || s.Off > space || s.Size > space-s.Off {
			return nil, fmt.Errorf("%w: buffer %d has %d bytes at %d of a body of %d", converters.ErrMalformed, i, s.Size, s.Off, space)
		}
		p.buffers[i].Off += m.body
	}
	for _, x := range fields {
		l.Columns = append(l.Columns, p.column(x, m.Rows))
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

func (p *placer) buffer(x *Field) Span {
	if len(p.buffers) == 0 {
		p.fail("no buffer for column %q", x.Path())
		return Span{}
	}
	s := p.buffers[0]
	p.buffers = p.buffers[1:]
	return s
}

// column returns the column of a field, which must have rows values; −1: any number.
func (p *placer) column(x *Field, rows int64) *Column {
	c := &Column{Field: x}
	if len(p.nodes) == 0 {
		p.fail("nothing for column %q", x.Path())
		return c
	}
	c.Rows, c.Nulls = p.nodes[0].Off, p.nodes[0].Size
	p.nodes = p.nodes[1:]
	if c.Rows < 0 || c.Nulls < 0 || c.Nulls > c.Rows || c.Rows > 1<<40 || rows >= 0 && c.Rows != rows {
		p.fail("column %q has %d values, %d of them null, where there are %d rows", x.Path(), c.Rows, c.Nulls, rows)
		return c
	}
	if x.Shape == ShapeNull {
		return c
	}
	c.Valid = p.buffer(x)
	inside := int64(-1)
	switch x.Shape {
	case ShapeFixed, ShapeBits, ShapeList, ShapeMap:
		c.Data = p.buffer(x)
	case ShapeBytes, ShapeListView:
		c.Data, c.More = p.buffer(x), []Span{p.buffer(x)}
	case ShapeView:
		c.Data = p.buffer(x)
		if len(p.variadic) == 0 || p.variadic[0] < 0 || p.variadic[0] > int64(len(p.buffers)) {
			p.fail("no number of buffers for column %q", x.Path())
			return c
		}
		n := p.variadic[0]
		c.More, p.buffers, p.variadic = p.buffers[:n:n], p.buffers[n:], p.variadic[1:]
	case ShapeStruct:
		inside = c.Rows
	case ShapeFixedList:
		if x.Size > 0 && c.Rows > (1<<40)/x.Size {
			p.fail("column %q has %d lists of %d elements", x.Path(), c.Rows, x.Size)
		}
		inside = c.Rows * x.Size
	}
	for _, child := range x.Children {
		if p.err != nil {
			break
		}
		n := inside
		// The children of a sliced struct, or of sliced lists of fixed size, may be longer; both start at the same value.
		d := p.column(child, -1)
		if n >= 0 && d.Rows < n {
			p.fail("column %q has %d values, where %d are needed", child.Path(), d.Rows, n)
		}
		c.Children = append(c.Children, d)
	}
	return c
}
