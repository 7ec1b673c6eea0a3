package encode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ffconvert/ffconvert/converters"
)

// An arrowFormat writes an Arrow IPC stream of one record batch: schema, batch, end. The key and
// each field of a sample are columns. A sample has one row, unless all its fields are of type
// [converters.Column]; then it has one row for each of their values.
type arrowFormat struct {
	fields []arrow.Field
	arrays []arrow.Array
	schema *arrow.Schema // of the previous sample, reused because most samples have the same fields
	sink   arrowSink
}

func newArrow() format { return &arrowFormat{} }

func (a *arrowFormat) encode(b *Builder, s *converters.Sample) error {
	a.fields, a.arrays = a.fields[:0], a.arrays[:0]
	a.sink.reset(b)
	rows, err := a.columns(s)
	if err != nil {
		return err
	}
	if a.schema == nil || !slices.EqualFunc(a.fields, a.schema.Fields(), arrow.Field.Equal) {
		a.schema = arrow.NewSchema(slices.Clone(a.fields), nil)
	}
	w := ipc.NewWriter(&a.sink, ipc.WithSchema(a.schema))
	if err := w.Write(array.NewRecord(a.schema, a.arrays, rows)); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return a.sink.check()
}

// columns sets the columns of s and returns their number of rows.
func (a *arrowFormat) columns(s *converters.Sample) (rows int64, err error) {
	if len(s.Fields) > 0 && isColumn(s.Fields[0].Value) {
		return a.table(s)
	}
	if s.Key != "" {
		if err := a.row(KeyField, converters.Text([]byte(s.Key))); err != nil {
			return 0, err
		}
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		if err := checkName(s, f); err != nil {
			return 0, err
		}
		if err := a.row(f.Name, f.Value); err != nil {
			return 0, fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	return 1, nil
}

func isColumn(v converters.Value) bool {
	_, ok := v.Nested().(converters.Column)
	return ok
}

// add appends a column. All columns are nullable, so that the schema does not depend on the values.
func (a *arrowFormat) add(name string, column arrow.Array) {
	a.fields = append(a.fields, arrow.Field{Name: name, Type: column.DataType(), Nullable: true})
	a.arrays = append(a.arrays, column)
}

// row appends a column of one row.
func (a *arrowFormat) row(name string, v converters.Value) error {
	switch v.Kind() {
	case converters.KindBytes:
		return a.payload(name, arrow.BinaryTypes.Binary, v)
	case converters.KindText:
		return a.payload(name, arrow.BinaryTypes.String, v)
	case converters.KindInt:
		a.number(name, arrow.PrimitiveTypes.Int64, uint64(v.Int()))
		return nil
	case converters.KindFloat:
		a.number(name, arrow.PrimitiveTypes.Float64, math.Float64bits(v.Float()))
		return nil
	}
	switch x := v.Nested().(type) {
	case nil:
		a.add(name, array.NewNull(1))
	case bool:
		n := uint64(0)
		if x {
			n = 1
		}
		a.number(name, arrow.FixedWidthTypes.Boolean, n)
	case uint64:
		a.number(name, arrow.PrimitiveTypes.Uint64, x)
	case int64, float64, string, []byte:
		return a.row(name, converters.ValueOf(x))
	case converters.Column:
		return errors.New("internal error: a sample of columns and single values")
	default:
		return &hintedError{fmt.Errorf("%w: arrow has no column for a list or a map", converters.ErrUnsupported), "Options.Encoding msgpack, cbor or pickle take any value"}
	}
	return nil
}

// number appends a column of one number, or of one bool in the lowest bit.
func (a *arrowFormat) number(name string, t arrow.DataType, bits uint64) {
	b := binary.LittleEndian.AppendUint64(nil, bits)
	if t.ID() == arrow.BOOL {
		b = b[:1]
	}
	a.add(name, array.MakeFromData(array.NewData(t, 1, []*memory.Buffer{nil, memory.NewBufferBytes(b)}, nil, 0, 0)))
}

// payload appends a column of one value of bytes or text.
func (a *arrowFormat) payload(name string, t arrow.DataType, v converters.Value) error {
	if v.Len() > math.MaxInt32 {
		return &hintedError{fmt.Errorf("%w: a column of an Arrow record holds less than 2 GiB, this has %d bytes", converters.ErrLimit, v.Len()), "Options.Encoding msgpack holds more"}
	}
	data := a.sink.expect(v)
	offsets := binary.LittleEndian.AppendUint32(make([]byte, 4, 8), uint32(len(data)))
	a.add(name, array.MakeFromData(array.NewData(t, 1, []*memory.Buffer{
		nil, memory.NewBufferBytes(offsets), memory.NewBufferBytes(data),
	}, nil, 0, 0)))
	return nil
}

// An arrowSink receives the output of Arrow's writer. It recognizes payloads by their address and
// passes them to the builder without copying.
//
// To size a record without reading its payloads, the sink gives Arrow a short stand-in for each
// unread payload and passes the length of the payload to the builder. The size is exact: Arrow pads
// buffers to a multiple of 8 bytes (the format allows 64), so a stand-in with the length of the
// payload modulo 64 gets the same padding, and all other output has a fixed width.
type arrowSink struct {
	b        *Builder
	payloads []arrowPayload // in the order of the columns
	done     int            // payloads written so far
	standIn  [arrowAlignment]byte
}

type arrowPayload struct {
	data  []byte // the bytes given to Arrow
	value converters.Value
}

const arrowAlignment = 64

func (s *arrowSink) reset(b *Builder) { s.b, s.payloads, s.done = b, s.payloads[:0], 0 }

// expect returns the bytes to give to Arrow for v. Write replaces them with v.
func (s *arrowSink) expect(v converters.Value) []byte {
	if v.Len() == 0 {
		return nil
	}
	data := v.Data()
	if v.Unread() {
		data = s.standIn[:(v.Len()-1)%arrowAlignment+1]
	}
	s.payloads = append(s.payloads, arrowPayload{data, v})
	return data
}

func (s *arrowSink) Write(p []byte) (int, error) {
	if s.done < len(s.payloads) && len(p) > 0 && &p[0] == &s.payloads[s.done].data[0] {
		s.b.value(&s.payloads[s.done].value)
		s.done++
	} else {
		s.b.written = append(s.b.written, p...)
	}
	return len(p), nil
}

// check returns an error if Arrow has copied a payload, so that Write did not recognize it.
func (s *arrowSink) check() error {
	if s.done < len(s.payloads) {
		return errors.New("internal error: Arrow did not write a payload where it is")
	}
	return nil
}
