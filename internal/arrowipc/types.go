package arrowipc

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
)

// Types of a field, by their number in the union Type.
const (
	typeNull = iota + 1
	typeInt
	typeFloat
	typeBinary
	typeText
	typeBool
	typeDecimal
	typeDate
	typeTime
	typeTimestamp
	typeInterval
	typeList
	typeStruct
	typeUnion
	typeFixedBinary
	typeFixedList
	typeMap
	typeDuration
	typeLargeBinary
	typeLargeText
	typeLargeList
	typeRunEnds
	typeBinaryView
	typeTextView
	typeListView
	typeLargeListView
)

// setType sets the shape and the type of a field. kind is a type above, f its table.
func (r *Schema) setType(x *Field, kind int64, f flat) {
	want := 0 // children; −1: any number
	fixed := func(s scalar, width int64, dtype string) {
		x.Shape, x.scalar, x.Width, x.DType = ShapeFixed, s, width, dtype
	}
	unit := func(usual int64) string { return units[min(max(f.number(0, 2, usual), 0), 3)] }
	switch kind {
	case typeNull:
		x.Shape, x.DType = ShapeNull, "null"
	case typeInt:
		bits := f.number(0, 4, 0)
		fixed(scalarInt, bits/8, fmt.Sprintf("int%d", bits))
		if f.number(1, 1, 0) == 0 {
			x.scalar, x.DType = scalarUint, "u"+x.DType
		}
		if !isWidth(x.Width) || bits%8 != 0 {
			r.bad(x, "integers of %d bits", bits)
		}
	case typeFloat:
		switch f.number(0, 2, 0) {
		case 0:
			fixed(scalarHalf, 2, "float16")
		case 1:
			fixed(scalarFloat, 4, "float32")
		default:
			fixed(scalarDouble, 8, "float64")
		}
	case typeBinary, typeLargeBinary:
		x.Shape, x.scalar, x.Wide, x.DType = ShapeBytes, scalarBytes, kind == typeLargeBinary, "bytes"
	case typeText, typeLargeText:
		x.Shape, x.scalar, x.Wide, x.DType = ShapeBytes, scalarText, kind == typeLargeText, "str"
	case typeBinaryView:
		x.Shape, x.scalar, x.Width, x.DType = ShapeView, scalarBytes, 16, "bytes"
	case typeTextView:
		x.Shape, x.scalar, x.Width, x.DType = ShapeView, scalarText, 16, "str"
	case typeBool:
		x.Shape, x.DType = ShapeBits, "bool"
	case typeDecimal:
		bits := f.number(2, 4, 128)
		fixed(scalarDecimal, bits/8, "str")
		scale := f.number(1, 4, 0)
		if x.Scale = int32(scale); bits != 32 && bits != 64 && bits != 128 && bits != 256 || scale < 0 || scale > 1<<10 {
			r.fail(fmt.Errorf("%w: column %q has decimals of %d bits with %d digits behind the point", converters.ErrUnsupported, x.Path(), bits, scale))
		}
	case typeDate:
		fixed(scalarInt, 4, "datetime64[D]")
		if f.number(0, 2, 1) != 0 {
			fixed(scalarInt, 8, "datetime64[ms]")
		}
	case typeTime:
		fixed(scalarInt, f.number(1, 4, 32)/8, "timedelta64["+unit(1)+"]")
		if x.Width != 4 && x.Width != 8 {
			r.bad(x, "times of %d bytes", x.Width)
		}
	case typeTimestamp:
		fixed(scalarInt, 8, "datetime64["+unit(0)+"]")
	case typeDuration:
		fixed(scalarInt, 8, "timedelta64["+unit(1)+"]")
	case typeFixedBinary:
		fixed(scalarBytes, f.number(0, 4, 0), "bytes")
		if x.Width < 0 {
			r.bad(x, "values of %d bytes", x.Width)
		}
	case typeStruct:
		x.Shape, x.DType, want = ShapeStruct, "map", -1
		r.structure(x)
	case typeList, typeLargeList:
		x.Shape, x.Wide, x.DType, want = ShapeList, kind == typeLargeList, "list", 1
	case typeListView, typeLargeListView:
		x.Shape, x.Wide, x.DType, want = ShapeListView, kind == typeLargeListView, "list", 1
	case typeFixedList:
		x.Shape, x.Size, x.DType, want = ShapeFixedList, f.number(0, 4, 0), "list", 1
		if x.Size < 0 {
			r.bad(x, "lists of %d elements", x.Size)
		}
	case typeMap:
		x.Shape, x.DType, want = ShapeMap, "map", 1
		r.mapping(x)
	default:
		name := map[int64]string{typeInterval: "intervals", typeUnion: "unions", typeRunEnds: "runs"}[kind]
		if name == "" {
			name = fmt.Sprintf("values of type %d", kind)
		}
		r.fail(fmt.Errorf("%w: column %q has %s", converters.ErrUnsupported, x.Path(), name))
	}
	if want >= 0 && len(x.Children) != want {
		r.bad(x, "%d columns in it", len(x.Children))
	}
}

// structure refuses duplicate names in a struct, and sets Payload and Beside of a struct with members bytes and path.
func (r *Schema) structure(x *Field) {
	seen := make(map[string]bool)
	for _, c := range x.Children {
		if seen[c.Name] {
			r.fail(fmt.Errorf("%w column %q", converters.ErrDuplicate, c.Path()))
		}
		seen[c.Name] = true
	}
	if len(x.Children) != 2 {
		return
	}
	for _, c := range x.Children {
		switch isBytes := c.Shape == ShapeBytes || c.Shape == ShapeView; {
		case isBytes && c.Name == "bytes" && c.scalar == scalarBytes && c.Values == nil:
			x.Payload = c
		case isBytes && c.Name == "path" && c.scalar == scalarText && c.Values == nil:
			x.Beside = c
		}
	}
	if x.Payload == nil || x.Beside == nil {
		x.Payload, x.Beside = nil, nil
	}
}

// mapping checks the type of the entries of a map.
func (r *Schema) mapping(x *Field) {
	if len(x.Children) != 1 {
		return
	}
	e := x.Children[0]
	if e.Shape != ShapeStruct || len(e.Children) != 2 || e.Values != nil {
		r.bad(x, "entries that are not keys and values")
		return
	}
	k := e.Children[0]
	if k.Values != nil {
		k = k.Values
	}
	isText := (k.Shape == ShapeBytes || k.Shape == ShapeView) && k.scalar == scalarText
	isNumber := k.Shape == ShapeFixed && k.scalar != scalarBytes || k.Shape == ShapeBits
	if !isText && !isNumber && k.Shape != ShapeNull { // a map of nulls has no pairs
		r.fail(fmt.Errorf("%w: the map %q has keys that are neither text nor numbers", converters.ErrUnsupported, x.Path()))
	}
}
