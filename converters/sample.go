package converters

import "math"

// A Sample is a key and named, ordered fields. Whoever yields one may reuse it and
// everything it points to for the next.
type Sample struct {
	Key    string // "" where the dataset has none, as rows have not
	Off    int64  // where it starts in its part, bytes, as in its Span
	Fields []Field
}

// A Field is one named value of a sample.
type Field struct {
	Name  string
	Value Value
}

// Field returns the value of the named field, and whether there is one.
func (s *Sample) Field(name string) (Value, bool) {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return s.Fields[i].Value, true
		}
	}
	return Value{}, false
}

// Kind says which of its forms a Value has.
type Kind uint8

// The kinds of a Value. The zero Value is empty bytes.
const (
	KindBytes  Kind = iota // opaque bytes
	KindText               // UTF-8 text
	KindInt                // int64
	KindFloat              // float64
	KindNested             // what Nested takes
)

// A Value is what a field holds. Bytes, text and numbers cost no allocation. It is asked
// through a pointer: seven words copied for each question were a tenth of encoding.
type Value struct {
	kind   Kind
	num    uint64 // the integer, the float's bits, or the length of bytes and text
	data   []byte // nil in a shape: length known, bytes not read
	nested any
}

// Bytes returns a value of opaque bytes. It does not copy b.
func Bytes(b []byte) Value { return Value{kind: KindBytes, num: uint64(len(b)), data: b} }

// Opaque returns a bytes value of size bytes whose contents have not been read, as
// an index has them.
func Opaque(size int64) Value { return Value{kind: KindBytes, num: uint64(size)} }

// Text returns a value of UTF-8 text. It does not copy b.
func Text(b []byte) Value { return Value{kind: KindText, num: uint64(len(b)), data: b} }

// Int returns an integer value.
func Int(n int64) Value { return Value{kind: KindInt, num: uint64(n)} }

// Float returns a floating-point value.
func Float(x float64) Value { return Value{kind: KindFloat, num: math.Float64bits(x)} }

// Nested returns a value made of nil, bool, int64, uint64, float64, string, []byte,
// []any and [Map], or a [Column].
func Nested(v any) Value { return Value{kind: KindNested, nested: v} }

// Kind returns the form the value has.
func (v *Value) Kind() Kind { return v.kind }

// Data returns the bytes of a bytes or text value; nil for an unread one.
func (v *Value) Data() []byte { return v.data }

// Len returns the length in bytes of a bytes or text value, read or not.
func (v *Value) Len() int64 {
	if v.kind > KindText {
		return 0
	}
	return int64(v.num)
}

// Unread reports whether the value is sized but its bytes have not been read.
func (v *Value) Unread() bool { return v.kind <= KindText && v.data == nil && v.num > 0 }

// Int returns the number of an integer value.
func (v *Value) Int() int64 { return int64(v.num) }

// Float returns the number of a floating-point value.
func (v *Value) Float() float64 { return math.Float64frombits(v.num) }

// Nested returns what a nested value holds.
func (v *Value) Nested() any { return v.nested }

// A Column is the value of a field in a sample of many rows.
type Column struct {
	Type   string // of ColumnType.DType
	Values []any  // int64, float64 (float32 too), bool or string by Type; nil where there is none
}
