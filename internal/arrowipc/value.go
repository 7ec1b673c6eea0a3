package arrowipc

import (
	"math"

	"github.com/x448/float16"

	"github.com/ffconvert/ffconvert/converters"
)

// IsBytes reports whether the values are bytes.
func (x *Field) IsBytes() bool { return x.scalar == scalarBytes }

// IsText reports whether the values are text, or in ShapeFixed the 16 bytes of a UUID.
func (x *Field) IsText() bool { return x.scalar == scalarText }

// Number returns the number that a value of ShapeFixed is, if it is neither bytes nor text nor a decimal.
func (x *Field) Number(b []byte) (v converters.Value, ok bool) {
	if x.scalar < scalarInt || x.scalar > scalarDouble {
		return v, false
	}
	var n uint64
	for i, c := range b {
		n |= uint64(c) << (8 * i)
	}
	switch x.scalar {
	case scalarInt:
		unused := 64 - 8*len(b)
		return converters.Int(int64(n<<unused) >> unused), true
	case scalarHalf:
		return converters.Float(float64(float16.Frombits(uint16(n)).Float32())), true
	case scalarFloat:
		return converters.Float(float64(math.Float32frombits(uint32(n)))), true
	case scalarDouble:
		return converters.Float(math.Float64frombits(n)), true
	}
	if n > math.MaxInt64 {
		return converters.Nested(n), true
	}
	return converters.Int(int64(n)), true
}
