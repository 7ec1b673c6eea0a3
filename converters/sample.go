package converters

import "math"

// A Sample is a key and named, ordered fields. An iterator may reuse a yielded Sample, and all memory that it refers
// to, for the next one.
type Sample struct {
	Key    string // "" if the dataset has no keys, like rows of CSV
	Off    int64  // offset of its start in its part in bytes, as in its Span
	Fields []Field
}

// A Field is one named value of a sample.
type Field struct {
	Name  string
	Value Value
}

// KeyField is the name of the key where records and sources have it as a field.
const KeyField = "__key__"

// Field returns the value of the named field, and whether there is one.
func (s *Sample) Field(name string) (Value, bool) {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return s.Fields[i].Value, true
		}
	}
	return Value{}, false
}

// A Kind is the type of a Value.
type Kind uint8

// The kinds of a Value. The zero Value is empty bytes.
const (
	KindBytes  Kind = iota // opaque bytes
	KindText               // UTF-8 text
	KindInt                // int64
	KindFloat              // float64
	KindNested             // any value that Nested accepts
)

// A Value is the value of a field. Bytes, text and numbers need no allocation. Methods have a pointer receiver: copying
// seven words per call took a tenth of the time of encoding.
type Value struct {
	CRC    uint32 // CRC-32 (IEEE) of the bytes if they were compared with it; 0: they were not
	kind   Kind
	num    uint64 // the integer, the float's bits, or the length of bytes and text
	data   []byte // nil in a shape, which has only the length
	nested any
}

// Bytes returns a value of opaque bytes. It does not copy b.
func Bytes(b []byte) Value { return Value{kind: KindBytes, num: uint64(len(b)), data: b} }

// Opaque returns an unread bytes value of size bytes, for the shape of a sample.
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

// Any returns the value in a type that [Nested] accepts. Bytes are not copied.
func (v *Value) Any() any {
	switch v.kind {
	case KindBytes:
		return v.data
	case KindText:
		return string(v.data)
	case KindInt:
		return v.Int()
	case KindFloat:
		return v.Float()
	}
	return v.nested
}

// ValueOf returns a value of one of the types of [Nested], as an integer, float, text or bytes value if possible, else
// nested.
func ValueOf(x any) Value {
	switch x := x.(type) {
	case int64:
		return Int(x)
	case float64:
		return Float(x)
	case string:
		return Text([]byte(x))
	case []byte:
		return Bytes(x)
	}
	return Nested(x)
}

// Kind returns the kind of the value.
func (v *Value) Kind() Kind { return v.kind }

// Data returns the bytes of a bytes or text value, nil if they are unread.
func (v *Value) Data() []byte { return v.data }

// Len returns the length in bytes of a bytes or text value, read or not.
func (v *Value) Len() int64 {
	if v.kind > KindText {
		return 0
	}
	return int64(v.num)
}

// Unread reports whether the value has a length but no bytes.
func (v *Value) Unread() bool { return v.kind <= KindText && v.data == nil && v.num > 0 }

// Int returns the number of an integer value.
func (v *Value) Int() int64 { return int64(v.num) }

// Float returns the number of a floating-point value.
func (v *Value) Float() float64 { return math.Float64frombits(v.num) }

// Nested returns the content of a nested value.
func (v *Value) Nested() any { return v.nested }

// A Column is the value of a field in a sample of many rows.
type Column struct {
	Type   string // as in ColumnType.DType
	Values []any  // int64, float64 (also for float32), bool or string according to Type; nil for a missing value
}
