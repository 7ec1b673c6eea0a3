package arrow

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
)

// A shape says how the values of a field lie in buffers, its validity aside.
type shape uint8

const (
	shapeNull   shape = iota // none
	shapeFixed               // values of width bytes
	shapeBits                // values of a bit
	shapeBytes               // offsets, bytes
	shapeView                // 16 bytes a value: the value, or where it lies; then any number of buffers of bytes
	shapeStruct              // none; children
	shapeList                // offsets; a child
	shapeMap                 // offsets; a child, a struct of key and value
	shapeFixedL              // none; a child with size elements for each value
	shapeListV               // offsets, sizes; a child, of which values may have any elements
)

// A scalar says which value a fixed one is.
type scalar uint8

const (
	scalarBytes scalar = iota
	scalarText
	scalarInt
	scalarUint
	scalarHalf
	scalarFloat
	scalarDouble
	scalarDecimal
	scalarUUID // 16 bytes: text
)

// schemaDepth is how deep a schema nests.
const schemaDepth = 64

// A field is a column, or a part of one.
type field struct {
	name     string
	in       *field // that it is a part of; nil: none
	shape    shape
	scalar   scalar
	width    int64 // of a fixed value in bytes
	wide     bool  // offsets have 8 bytes, else 4
	size     int64 // elements of a list of shapeFixedL
	scale    int32 // of a decimal
	dtype    string
	children []*field
	values   *field // of a dictionary, where the field has indexes
	id       int64  // of the dictionary

	payload, beside *field // of media: a struct of bytes and path
}

// path returns the name with those of the fields that it is in.
func (x *field) path() string {
	if x.in == nil {
		return x.name
	}
	return x.in.path() + "." + x.name
}

// units are the names of numpy for units of time.
var units = [...]string{"s", "ms", "us", "ns"}

// A reading is a schema that is read.
type reading struct {
	fields       []*field
	dictionaries map[int64]*field // values of the dictionaries
	feature      []byte           // the value of the key huggingface
	room         int              // bytes that are left for fields, which may be named more often than they are there
	err          error
}

const leastField = 24 // bytes of a field in a schema, its name aside

func (r *reading) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// readSchema makes fields of a schema.
func readSchema(f flat) (*reading, error) {
	r := &reading{dictionaries: make(map[int64]*field), room: len(f.b)}
	if f.number(0, 2, 0) != 0 {
		return nil, fmt.Errorf("%w: its numbers are big-endian", converters.ErrUnsupported)
	}
	f.list(1, 0, func(e flat) { r.fields = append(r.fields, r.field(e, nil, 1)) })
	f.list(2, 0, func(e flat) {
		if string(e.text(0)) == "huggingface" {
			r.feature = bytes.Clone(e.text(1))
		}
	})
	if *f.err != nil {
		return nil, fmt.Errorf("%w: %w", converters.ErrMalformed, *f.err)
	}
	if r.err == nil && len(r.fields) == 0 {
		r.fail(fmt.Errorf("%w: its schema has no columns", converters.ErrMalformed))
	}
	return r, r.err
}

// field makes a field.
func (r *reading) field(f flat, in *field, depth int) *field {
	name := f.text(0)
	x := &field{in: in}
	if r.room -= leastField + len(name); r.room < 0 {
		r.fail(fmt.Errorf("%w: its schema has more fields than bytes for them", converters.ErrMalformed))
	}
	if depth > schemaDepth {
		r.fail(fmt.Errorf("%w: its schema nests deeper than %d", converters.ErrLimit, schemaDepth))
	}
	if r.err != nil {
		return x
	}
	x.name = string(name)
	f.list(5, 0, func(c flat) {
		if r.err == nil {
			x.children = append(x.children, r.field(c, x, depth+1))
		}
	})
	kind, _ := f.table(3)
	r.setType(x, f.number(2, 1, 0), kind)
	f.list(6, 0, func(e flat) {
		if string(e.text(0)) == "ARROW:extension:name" && string(e.text(1)) == "arrow.uuid" && x.shape == shapeFixed && x.scalar == scalarBytes && x.width == 16 {
			x.scalar, x.dtype = scalarUUID, "str"
		}
	})
	if dictionary, ok := f.table(4); ok && r.err == nil {
		r.dictionary(x, dictionary)
	}
	return x
}

// dictionary makes a field one of indexes. Its type is that of the values.
func (r *reading) dictionary(x *field, f flat) {
	values := *x
	x.values, x.children, x.shape, x.scalar, x.id = &values, nil, shapeFixed, scalarInt, f.number(0, 8, 0)
	x.payload, x.beside = nil, nil
	x.width = 4
	if index, ok := f.table(1); ok {
		x.width = index.number(0, 4, 0) / 8
		if index.number(1, 1, 0) == 0 {
			x.scalar = scalarUint
		}
	}
	if !isWidth(x.width) {
		r.bad(x, "indexes of %d bytes", x.width)
	}
	if slices.ContainsFunc(values.children, (*field).hasWords) {
		r.fail(fmt.Errorf("%w: column %q has a dictionary in a dictionary", converters.ErrUnsupported, x.path()))
	}
	if r.dictionaries[x.id] == nil {
		r.dictionaries[x.id] = &values
	}
}

func (x *field) hasWords() bool {
	return x.values != nil || slices.ContainsFunc(x.children, (*field).hasWords)
}

func isWidth(n int64) bool { return n == 1 || n == 2 || n == 4 || n == 8 }

func (r *reading) bad(x *field, format string, args ...any) {
	r.fail(fmt.Errorf("%w: column %q has %s", converters.ErrMalformed, x.path(), fmt.Sprintf(format, args...)))
}
