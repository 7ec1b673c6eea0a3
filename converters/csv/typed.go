package csv

import (
	"math"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ffconvert/ffconvert/converters"
)

// A batch ends after this many rows, or after the row with which its lines reach this many bytes.
const (
	batchRows  = 4096
	batchBytes = 256 << 10
)

// valueSize is the memory of a value without its text, in bytes.
const valueSize = 24

// A typed decodes rows of columns with different types. It splits and checks a batch of rows, builds an
// Arrow record of them, and then returns the rows one by one.
type typed struct {
	*splitter
	kept   []column
	table  bool // a sample has a column of values for each field, not one value
	powers *powers
	schema *arrow.Schema

	left     int64        // rows that the caller may still request
	lines    []line       // lines of the batch
	returned int          // how many of lines next has returned
	batch    arrow.Record // the rows among lines
	row      int          // index in batch of the line that next returned last

	values [][]any // of the sample, by column
	bytes  int64   // memory of the sample
	limit  int64   // limit of bytes
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
	t.left, t.lines, t.returned = left, t.lines[:0], 0
	t.clear()
}

func (t *typed) alike() bool { return false }

// next returns the next row of the batch, or of a new one.
func (t *typed) next() (event, error) {
	if t.returned == len(t.lines) {
		if err := t.fill(); err != nil {
			return 0, err
		}
		if len(t.lines) == 0 {
			return eventEnd, nil
		}
	}
	l := t.lines[t.returned]
	t.returned++
	t.splitter.at = l.off
	if l.event == eventRow {
		t.row++
		if t.take(); t.bytes > t.limit {
			return 0, t.refuseSample(t.limit)
		}
	}
	return l.event, nil
}

func (t *typed) fill() error {
	b := array.NewRecordBuilder(memory.DefaultAllocator, t.schema)
	defer b.Release()
	t.lines, t.returned, t.row = t.lines[:0], 0, -1
	rows, bytes := int64(0), 0
	for rows < max(1, t.left) && len(t.lines) < batchRows && bytes < batchBytes {
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
		if err := t.build(b); err != nil {
			return err
		}
		rows++
		bytes += len(t.line)
	}
	t.left -= rows
	if t.batch != nil {
		t.batch.Release()
	}
	t.batch = b.NewRecord()
	return nil
}

// build checks the values of the current row and appends them.
func (t *typed) build(b *array.RecordBuilder) error {
	for i, k := range t.kept {
		cell := t.cells[k.index]
		switch {
		case null(cell):
			b.Field(i).AppendNull()
		case !t.buildValue(b.Field(i), t.value(cell)):
			return t.refuse(k, cell)
		case k.kind == float64s:
			t.round(i, k, cell)
		}
	}
	return nil
}

// buildValue appends one value, and reports whether it has the type of its column.
func (t *typed) buildValue(to array.Builder, value []byte) (ok bool) {
	var bits uint64
	switch to := to.(type) {
	case *array.Int64Builder:
		bits, ok = t.powers.number(value, int64s)
		to.Append(int64(bits))
	case *array.Float64Builder:
		bits, ok = t.powers.number(value, float64s)
		to.Append(math.Float64frombits(bits))
	case *array.Float32Builder:
		bits, ok = t.powers.number(value, float32s)
		to.Append(math.Float32frombits(uint32(bits)))
	case *array.BooleanBuilder:
		var is bool
		is, ok = boolean(value)
		to.Append(is)
	case *array.StringBuilder:
		ok = utf8.Valid(value)
		to.BinaryBuilder.Append(value)
	}
	return ok
}

func (t *typed) take() {
	t.bytes += valueSize * int64(len(t.kept))
	for i := range t.kept {
		column := t.batch.Column(i)
		if text, ok := column.(*array.String); ok {
			t.bytes += int64(text.ValueLen(t.row))
		}
		if t.table {
			t.values[i] = append(t.values[i], valueOf(column, t.row))
		}
	}
}

// sample sets s to the rows since the last sample.
func (t *typed) sample(s *converters.Sample) {
	for i, c := range t.kept {
		if t.table {
			s.Fields[i].Value = converters.Nested(converters.Column{Type: c.kind.String(), Values: t.values[i]})
		} else {
			s.Fields[i].Value = field(t.batch.Column(i), t.row)
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

// field returns value i of a column. Text is not copied.
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

// valueOf returns value i of a column as the value of a [converters.Column].
func valueOf(column arrow.Array, i int) any {
	v := field(column, i)
	return v.Any()
}

// quiet gives every NaN the bits of the NaN in C.
func quiet(f float64) float64 {
	if math.IsNaN(f) {
		return math.Float64frombits(0x7FF8 << 48)
	}
	return f
}
