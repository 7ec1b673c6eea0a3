package arrow

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

// setType sets the type of a field.
func (r *reading) setType(x *field, kind int64, f flat) {
	want := 0 // children; −1: any number
	fixed := func(s scalar, width int64, dtype string) {
		x.shape, x.scalar, x.width, x.dtype = shapeFixed, s, width, dtype
	}
	unit := func(usual int64) string { return units[min(max(f.number(0, 2, usual), 0), 3)] }
	switch kind {
	case typeNull:
		x.shape, x.dtype = shapeNull, "null"
	case typeInt:
		bits := f.number(0, 4, 0)
		fixed(scalarInt, bits/8, fmt.Sprintf("int%d", bits))
		if f.number(1, 1, 0) == 0 {
			x.scalar, x.dtype = scalarUint, "u"+x.dtype
		}
		if !isWidth(x.width) || bits%8 != 0 {
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
		x.shape, x.scalar, x.wide, x.dtype = shapeBytes, scalarBytes, kind == typeLargeBinary, "bytes"
	case typeText, typeLargeText:
		x.shape, x.scalar, x.wide, x.dtype = shapeBytes, scalarText, kind == typeLargeText, "str"
	case typeBinaryView:
		x.shape, x.scalar, x.width, x.dtype = shapeView, scalarBytes, 16, "bytes"
	case typeTextView:
		x.shape, x.scalar, x.width, x.dtype = shapeView, scalarText, 16, "str"
	case typeBool:
		x.shape, x.dtype = shapeBits, "bool"
	case typeDecimal:
		bits := f.number(2, 4, 128)
		fixed(scalarDecimal, bits/8, "str")
		scale := f.number(1, 4, 0)
		if x.scale = int32(scale); bits != 32 && bits != 64 && bits != 128 && bits != 256 || scale < 0 || scale > 1<<10 {
			r.fail(fmt.Errorf("%w: column %q has decimals of %d bits with %d digits behind the point", converters.ErrUnsupported, x.path(), bits, scale))
		}
	case typeDate:
		fixed(scalarInt, 4, "datetime64[D]")
		if f.number(0, 2, 1) != 0 {
			fixed(scalarInt, 8, "datetime64[ms]")
		}
	case typeTime:
		fixed(scalarInt, f.number(1, 4, 32)/8, "timedelta64["+unit(1)+"]")
		if x.width != 4 && x.width != 8 {
			r.bad(x, "times of %d bytes", x.width)
		}
	case typeTimestamp:
		fixed(scalarInt, 8, "datetime64["+unit(0)+"]")
	case typeDuration:
		fixed(scalarInt, 8, "timedelta64["+unit(1)+"]")
	case typeFixedBinary:
		fixed(scalarBytes, f.number(0, 4, 0), "bytes")
		if x.width < 0 {
			r.bad(x, "values of %d bytes", x.width)
		}
	case typeStruct:
		x.shape, x.dtype, want = shapeStruct, "map", -1
		r.structure(x)
	case typeList, typeLargeList:
		x.shape, x.wide, x.dtype, want = shapeList, kind == typeLargeList, "list", 1
	case typeListView, typeLargeListView:
		x.shape, x.wide, x.dtype, want = shapeListV, kind == typeLargeListView, "list", 1
	case typeFixedList:
		x.shape, x.size, x.dtype, want = shapeFixedL, f.number(0, 4, 0), "list", 1
		if x.size < 0 {
			r.bad(x, "lists of %d elements", x.size)
		}
	case typeMap:
		x.shape, x.dtype, want = shapeMap, "map", 1
		r.mapping(x)
	default:
		name := map[int64]string{typeInterval: "intervals", typeUnion: "unions", typeRunEnds: "runs"}[kind]
		if name == "" {
			name = fmt.Sprintf("values of type %d", kind)
		}
		r.fail(fmt.Errorf("%w: column %q has %s", converters.ErrUnsupported, x.path(), name))
	}
	if want >= 0 && len(x.children) != want {
		r.bad(x, "%d columns in it", len(x.children))
	}
}

// structure checks the names of a struct, and finds the parts of media.
func (r *reading) structure(x *field) {
	seen := make(map[string]bool)
	for _, c := range x.children {
		if seen[c.name] {
			r.fail(fmt.Errorf("%w column %q", converters.ErrDuplicate, c.path()))
		}
		seen[c.name] = true
	}
	if len(x.children) != 2 {
		return
	}
	for _, c := range x.children {
		switch isBytes := c.shape == shapeBytes || c.shape == shapeView; {
		case isBytes && c.name == "bytes" && c.scalar == scalarBytes && c.values == nil:
			x.payload = c
		case isBytes && c.name == "path" && c.scalar == scalarText && c.values == nil:
			x.beside = c
		}
	}
	if x.payload == nil || x.beside == nil {
		x.payload, x.beside = nil, nil
	}
}

// mapping checks the entries of a map.
func (r *reading) mapping(x *field) {
	if len(x.children) != 1 {
		return
	}
	e := x.children[0]
	if e.shape != shapeStruct || len(e.children) != 2 || e.values != nil {
		r.bad(x, "entries that are not keys and values")
		return
	}
	k := e.children[0]
	if k.values != nil {
		k = k.values
	}
	isText := (k.shape == shapeBytes || k.shape == shapeView) && k.scalar == scalarText
	isNumber := k.shape == shapeFixed && k.scalar != scalarBytes || k.shape == shapeBits
	if !isText && !isNumber {
		r.fail(fmt.Errorf("%w: the map %q has keys that are neither text nor numbers", converters.ErrUnsupported, x.path()))
	}
}
