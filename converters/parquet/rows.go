package parquet

import (
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// mostAhead is how many bytes of packed rows are decoded at once, unless one row has more. They fit into the
// second-level cache.
const mostAhead = 64 << 10

// Rows are rows of numbers that a reader has decoded, up to a batch, or as many packed rows as data holds.
type rows struct {
	size    int // of a packed row in bytes
	n, next int // how many there are, and how many of them were returned
	data    []byte
	batch   scan.Batch
	whole   bool // they have the same kinds of values
	before  bool // so had the previous ones of the pass
}

// packed returns the size in bytes of the numbers of a table whose rows can be packed: see Options.Pack, and Labels. Else it is 0.
func (t *table) packed(d converters.Description, labels bool) int {
	if len(d.Columns) == 0 || d.Classes != nil {
		return 0
	}
	first := d.Columns[0].DType
	if slices.ContainsFunc(d.Columns, func(c converters.ColumnType) bool { return c.DType != first }) ||
		slices.ContainsFunc(t.columns, func(c *column) bool {
			return c.name == converters.KeyField || labels && first == "int64" && (c.name == "cls" || c.name == "index")
		}) {
		return 0
	}
	for i := range t.groups {
		for j, l := range t.leaves {
			if l.def > 0 && t.groups[i].chunks[j].nulls != 0 {
				return 0
			}
		}
	}
	return map[string]int{"float64": 8, "float32": 4, "int64": 8}[first]
}

// nextRows is Next for rows of numbers.
func (r *reader) nextRows(want int64) ([]converters.Span, error) {
	x := &r.rows
	if x.next == x.n {
		if more, err := r.more(); err != nil || !more {
			return nil, err
		}
		most := len(x.batch.Spans)
		switch {
		case x.n == 0:
			most = 1 // of a pass: the caller may want no more
		case r.src.width > 0:
			most = max(1, mostAhead/x.size)
		}
		if err := r.decodeRows(int(min(want, r.table.groups[r.group].rows-r.row, int64(most)))); err != nil {
			return nil, err
		}
	}
	spans := x.batch.Spans[:min(len(x.batch.Spans), x.n-x.next)]
	for i := range spans {
		s := &spans[i]
		s.Off = r.table.groups[r.group].offset(r.row)
		s.Alike = r.index && x.whole && (i > 0 || x.before)
		s.Shape.Off = s.Off
		switch {
		case r.src.width == 0:
		case r.index:
			s.Shape.Fields[0].Value = converters.Opaque(int64(x.size))
		default:
			s.Shape.Fields[0].Value = converters.Bytes(x.data[x.next*x.size : (x.next+1)*x.size])
		}
		x.next++
		r.row++
	}
	x.before = x.whole
	return spans, nil
}

// decodeRows decodes the next rows, at most n. Of packed ones an index only checks that they are there.
func (r *reader) decodeRows(n int) error {
	x := &r.rows
	for _, c := range r.fields {
		some, err := r.asm.cursors[c.first].run(r.src.width > 0)
		if err != nil {
			return r.fail(c.leaf, err)
		}
		n = min(n, some)
	}
	x.n, x.next, x.whole = n, 0, true
	if r.src.width > 0 && !r.index {
		x.data = columns.Sized(x.data, int64(n*x.size))
	}
	for i, field := range r.fields {
		switch c := r.asm.cursors[field.first]; {
		case r.src.width == 0:
			whole, err := c.fill(&x.batch, i, n)
			if err != nil {
				return r.fail(c.leaf, err)
			}
			x.whole = x.whole && whole
		case r.index:
			c.batch.drop(n)
		default:
			c.batch.put(x.data[i*r.src.width:], n, r.src.width, x.size)
		}
	}
	return nil
}

// fill consumes n values and sets field i of the first samples of a batch to them. It reports whether they are of one kind.
func (c *cursor) fill(to *scan.Batch, i, n int) (whole bool, err error) {
	b := &c.batch
	whole = b.present(n) == n
	var d datum
	for k := range n {
		v := &to.Spans[k].Shape.Fields[i].Value
		if b.defs != nil && b.defs[b.at+k] < b.full {
			*v = converters.Nested(nil)
			continue
		}
		d.num = b.numbers[b.number]
		b.number++
		if err := c.value(&d, v); err != nil {
			return false, err
		}
		whole = whole && (c.scalar != scalarUint64 || v.Kind() == converters.KindInt)
	}
	b.at += n
	return whole, nil
}

// packedRows is scan.Format.Rows: packed rows are rows.
func (s *source) packedRows() func(scan.Reader, int) ([]byte, int) {
	if s.width == 0 {
		return nil
	}
	return func(of scan.Reader, taken int) ([]byte, int) {
		r := of.(*reader)
		x := &r.rows
		from := x.next - taken
		r.row += int64(x.n - x.next)
		x.next = x.n
		return x.data[from*x.size : x.n*x.size], x.n - from
	}
}
