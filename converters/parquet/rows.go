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

// Rows are packed rows that a reader has decoded.
type rows struct {
	size    int // of a row in bytes
	n, next int // how many there are, and how many of them were returned
	data    []byte
	batch   scan.Batch
}

// packed returns the size in bytes of the numbers of a table whose rows can be packed: see Options.Pack. Else it is 0.
func (t *table) packed(d converters.Description) int {
	if len(d.Columns) == 0 || d.Classes != nil {
		return 0
	}
	first := d.Columns[0].DType
	if slices.ContainsFunc(d.Columns, func(c converters.ColumnType) bool { return c.DType != first }) ||
		slices.ContainsFunc(t.columns, func(c *column) bool { return c.name == converters.KeyField }) {
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

// nextRows is Next for packed rows.
func (r *reader) nextRows(want int64) ([]converters.Span, error) {
	x := &r.rows
	first := x.n == 0
	if x.next == x.n {
		if more, err := r.more(); err != nil || !more {
			return nil, err
		}
		if err := r.decodeRows(int(min(want, r.table.groups[r.group].rows-r.row, int64(max(1, mostAhead/x.size))))); err != nil {
			return nil, err
		}
	}
	spans := x.batch.Spans[:min(len(x.batch.Spans), x.n-x.next)]
	for i := range spans {
		s := &spans[i]
		s.Off = r.table.groups[r.group].offset(r.row)
		s.Alike = r.index && (i > 0 || !first)
		s.Shape.Off, s.Shape.Fields[0].Value = s.Off, converters.Opaque(int64(x.size))
		if !r.index {
			s.Shape.Fields[0].Value = converters.Bytes(x.data[x.next*x.size : (x.next+1)*x.size])
		}
		x.next++
		r.row++
	}
	return spans, nil
}

// decodeRows decodes the next rows, at most n. For an index it only checks them.
func (r *reader) decodeRows(n int) error {
	x := &r.rows
	for _, c := range r.fields {
		some, err := r.asm.cursors[c.first].run()
		if err != nil {
			return r.fail(c.leaf, err)
		}
		n = min(n, some)
	}
	x.n, x.next = n, 0
	if !r.index {
		x.data = columns.Sized(x.data, int64(n*x.size))
	}
	for i, c := range r.fields {
		if b := &r.asm.cursors[c.first].batch; r.index {
			b.drop(n)
		} else {
			b.put(x.data[i*r.src.width:], n, r.src.width, x.size)
		}
	}
	return nil
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
