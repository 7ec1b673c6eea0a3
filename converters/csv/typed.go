package csv

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	arrowcsv "github.com/apache/arrow/go/v15/arrow/csv"

	"github.com/ffconvert/ffconvert/converters"
)

// What is handed to Arrow at once: so many rows, or the first that make so many bytes.
const (
	chunkRows  = 4096
	chunkBytes = 256 << 10
)

// nullText stands for null in what Arrow reads: no value of a part has a NUL.
const nullText = "\x00"

// valueSize is what a value costs beside its text, bytes.
const valueSize = 24

// A typed is the decoder of rows whose columns have types. The splitter finds the values.
// They are checked, and written again so that Arrow's CSV reader takes them for what they
// are: it has one text for null and for empty, drops the CR of a CR LF between quotes, and
// takes other numbers and booleans than we do. It makes columns of them, for many rows.
type typed struct {
	*splitter
	kept   []column
	table  bool // samples have a column of values, not one
	powers *powers
	schema *arrow.Schema

	left    int64  // rows that the caller may still ask for
	chunk   []byte // rows for Arrow
	lines   []line // of the chunk
	told    int    // how many next has told of
	rows    int    // of the chunk, in record
	current int    // the row among them that next told of last
	made    *arrowcsv.Reader

	values [][]any // of the sample, by column
	bytes  int64   // its size in memory
	limit  int64   // of bytes
}

// A line is a row or an empty line.
type line struct {
	off   int64 // in the part, bytes
	event event
}

func newTyped(s *splitter, sc *schema, limit int64) *typed {
	t := &typed{splitter: s, kept: sc.kept, table: sc.form == Table, powers: allPowers(), limit: limit, values: make([][]any, len(sc.kept))}
	fields := make([]arrow.Field, len(sc.kept))
	for i, c := range sc.kept {
		fields[i] = arrow.Field{Name: c.name, Type: arrowType(c.kind), Nullable: true}
	}
	t.schema = arrow.NewSchema(fields, nil)
	return t
}

func arrowType(k kind) arrow.DataType {
	switch k {
	case int64s:
		return arrow.PrimitiveTypes.Int64
	case float32s:
		return arrow.PrimitiveTypes.Float32
	case float64s:
		return arrow.PrimitiveTypes.Float64
	case bools:
		return arrow.FixedWidthTypes.Boolean
	}
	return arrow.BinaryTypes.String
}

func (t *typed) reset(left int64, _ bool) {
	t.left, t.lines, t.told = left, t.lines[:0], 0
	t.clear()
}

func (t *typed) alike() bool { return false }

// next takes the next row, of a chunk that Arrow has read.
func (t *typed) next() (event, error) {
	if t.told == len(t.lines) {
		if err := t.fill(); err != nil {
			return 0, err
		}
		if len(t.lines) == 0 {
			return eventEnd, nil
		}
	}
	l := t.lines[t.told]
	t.told++
	t.splitter.at = l.off
	if l.event == eventRow {
		t.current++
		if t.take(); t.bytes > t.limit {
			return 0, t.refuseSample(t.limit)
		}
	}
	return l.event, nil
}

// fill makes the next chunk: rows, and the empty lines among them.
func (t *typed) fill() error {
	if cap(t.chunk) > 4*chunkBytes {
		t.chunk = nil // there was a large row
	}
	t.chunk, t.lines, t.told, t.rows, t.current = t.chunk[:0], t.lines[:0], 0, 0, -1
	most := int(min(chunkRows, max(1, t.left)))
	for t.rows < most && len(t.lines) < chunkRows && len(t.chunk) < chunkBytes {
		ev, err := t.splitter.next()
		if err != nil {
			return err
		}
		if ev == eventEnd {
			break
		}
		t.lines = append(t.lines, line{t.splitter.at, ev})
		if ev == eventEmpty {
			continue
		}
		t.rows++
		t.left--
		if err := t.write(); err != nil {
			return err
		}
	}
	if t.rows == 0 {
		return nil
	}
	return t.read()
}

// read has Arrow read the chunk. Every value of it was checked: should Arrow refuse one
// all the same, the error places the chunk.
func (t *typed) read() error {
	if t.made != nil {
		t.made.Release()
	}
	t.made = arrowcsv.NewReader(bytes.NewReader(t.chunk), t.schema,
		arrowcsv.WithChunk(t.rows+1), arrowcsv.WithNullReader(true, nullText))
	if !t.made.Next() || t.made.Err() != nil || t.made.Record().NumRows() != int64(t.rows) {
		return t.fail(t.lines[0].off, fmt.Errorf("%w: Arrow's reader refuses what follows: %v", converters.ErrMalformed, t.made.Err()), "")
	}
	return nil
}

// write checks the values of the current row and appends them to the chunk.
func (t *typed) write() error {
	for i, k := range t.kept {
		if i > 0 {
			t.chunk = append(t.chunk, ',')
		}
		cell := t.cells[k.index]
		if null(cell) {
			t.chunk = append(t.chunk, nullText...)
			continue
		}
		if !t.writeValue(t.value(cell), k.kind) {
			return t.refuse(k, cell)
		}
		if k.kind == float64s {
			t.round(i, k, cell)
		}
	}
	t.chunk = append(t.chunk, '\n')
	return nil
}

// writeValue appends one value, and reports whether it is one of the kind.
func (t *typed) writeValue(value []byte, k kind) bool {
	switch k {
	case texts:
		t.chunk = appendQuoted(t.chunk, value)
		return utf8.Valid(value)
	case bools:
		b, ok := boolean(value)
		t.chunk = strconv.AppendBool(t.chunk, b)
		return ok
	}
	bits, ok := t.powers.number(value, k)
	if !ok {
		return false
	}
	s, f := trim(value), math.Float64frombits(bits)
	if k == float32s {
		f = float64(math.Float32frombits(uint32(bits)))
	}
	switch {
	case k == int64s:
		t.chunk = append(t.chunk, s...)
	case math.IsNaN(f):
		t.chunk = append(t.chunk, "nan"...)
	case math.IsInf(f, 0) || formOf(s) != plain:
		t.chunk = strconv.AppendFloat(t.chunk, f, 'g', -1, 8*k.width())
	default:
		t.chunk = append(t.chunk, s...)
	}
	return true
}

// appendQuoted appends text between quotes. Its quotes are written twice, and so is the
// CR of each CR LF, since Arrow's reader takes one of them for a part of the line end.
func appendQuoted(b, text []byte) []byte {
	b = append(b, '"')
	for i, c := range text {
		switch {
		case c == '"':
			b = append(b, c)
		case c == '\n' && i > 0 && text[i-1] == '\r':
			b = append(b, '\r')
		}
		b = append(b, c)
	}
	return append(b, '"')
}

// take adds the current row to the sample.
func (t *typed) take() {
	t.bytes += valueSize * int64(len(t.kept))
	for i := range t.kept {
		column := t.made.Record().Column(i)
		if text, ok := column.(*array.String); ok {
			t.bytes += int64(text.ValueLen(t.current))
		}
		if t.table {
			t.values[i] = append(t.values[i], valueOf(column, t.current))
		}
	}
}

// sample makes a sample of the rows since the last one.
func (t *typed) sample(s *converters.Sample) {
	for i, c := range t.kept {
		if t.table {
			s.Fields[i].Value = converters.Nested(converters.Column{Type: c.kind.String(), Values: t.values[i]})
		} else {
			s.Fields[i].Value = field(t.made.Record().Column(i), t.current)
		}
	}
	t.clear()
}

func (t *typed) clear() {
	for i := range t.values {
		t.values[i] = make([]any, 0, len(t.values[i]))
	}
	t.bytes = 0
}

// field returns value i of a column; its text is that of the column.
func field(column arrow.Array, i int) converters.Value {
	if column.IsNull(i) {
		return converters.Nested(nil)
	}
	switch c := column.(type) {
	case *array.Int64:
		return converters.Int(c.Value(i))
	case *array.Float64:
		return converters.Float(quiet(c.Value(i)))
	case *array.Float32:
		return converters.Float(quiet(float64(c.Value(i))))
	case *array.Boolean:
		return converters.Nested(c.Value(i))
	}
	c := column.(*array.String)
	from := c.ValueOffset(i)
	return converters.Text(c.ValueBytes()[from : from+c.ValueLen(i)])
}

// valueOf returns value i of a column as a table has it.
func valueOf(column arrow.Array, i int) any {
	switch v := field(column, i); v.Kind() {
	case converters.KindInt:
		return v.Int()
	case converters.KindFloat:
		return v.Float()
	case converters.KindText:
		return string(v.Data())
	default:
		return v.Nested()
	}
}

// quiet gives all NaN the same bits, those that C has.
func quiet(f float64) float64 {
	if math.IsNaN(f) {
		return math.Float64frombits(0x7FF8 << 48)
	}
	return f
}
