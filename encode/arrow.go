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

// An arrowFormat writes an Arrow IPC stream of one record batch: schema, batch, end. A
// sample is one row, its key and each field a column. A sample whose fields are all a
// [converters.Column] is a row for each of their values.
type arrowFormat struct {
	fields []arrow.Field
	arrays []arrow.Array
	schema *arrow.Schema // of the sample before, for most samples are alike
	sink   arrowSink
}

func newArrow() format { return &arrowFormat{} }

func (a *arrowFormat) encode(b *builder, s *converters.Sample) error {
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

// columns makes the columns of s and returns how many rows they have.
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

// add appends a column. Each may be null, so that the schema of a record does not depend
// on whether one is.
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
		return a.row(name, valueOf(x))
	case converters.Column:
		return errors.New("internal error: a sample of columns and single values")
	default:
		return fmt.Errorf("%w: arrow has no column for a list or a map; --encode msgpack, cbor or pickle take any value", converters.ErrUnsupported)
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
		return fmt.Errorf("%w: a column of an Arrow record holds less than 2 GiB, this has %d bytes; --encode msgpack holds more", converters.ErrLimit, v.Len())
	}
	data := a.sink.expect(v)
	offsets := binary.LittleEndian.AppendUint32(make([]byte, 4, 8), uint32(len(data)))
	a.add(name, array.MakeFromData(array.NewData(t, 1, []*memory.Buffer{
		nil, memory.NewBufferBytes(offsets), memory.NewBufferBytes(data),
	}, nil, 0, 0)))
	return nil
}

// An arrowSink takes what Arrow's writer writes. It knows the payloads by their address
// and hands them on where they are.
//
// An unread payload is written as a stand-in of a few bytes. Arrow pads buffers to a
// multiple of 8 bytes (64 is allowed), so a stand-in that is as long as the payload modulo
// 64 is padded alike; and what else is written holds lengths as numbers of fixed width.
// With the length of the payload in place of that of the stand-in, the size is exact.
type arrowSink struct {
	b        *builder
	payloads []arrowPayload // in the order of the columns
	done     int            // how many of them are written
	standIn  [arrowAlignment]byte
}

type arrowPayload struct {
	data  []byte // what will be written
	value converters.Value
}

const arrowAlignment = 64

func (s *arrowSink) reset(b *builder) { s.b, s.payloads, s.done = b, s.payloads[:0], 0 }

// expect returns the bytes to write for v, and remembers to put v in their place.
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

// check finds the mistake of a payload that was not handed on.
func (s *arrowSink) check() error {
	if s.done < len(s.payloads) {
		return errors.New("internal error: Arrow did not write a payload where it is")
	}
	return nil
}
