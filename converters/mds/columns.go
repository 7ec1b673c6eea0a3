package mds

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

// A kind is how the values of a column are decoded.
type kind int

const (
	opaque kind = iota // bytes
	utf8Text
	signed   // little-endian integers
	unsigned //
	floats   // IEEE 754 numbers
	digits   // text of an integer
	decimals // text of a number
	jsonText
	array
	list // of bytes
)

// A layout is a shard with its columns ready for decoding.
type layout struct {
	*Shard
	columns []column
	sized   int64 // number of columns without a fixed size
}

type column struct {
	Column
	kind   kind
	dtype  *dtype  // of an array; nil: stored in each value
	shape  []int64 // of an array; nil: stored in each value
	behind int     // of a list: unused bytes before it
}

// scalars are the encodings of a single number, with their sizes in bytes.
var scalars = map[string]struct {
	kind kind
	size int64
}{
	"int": {signed, 8}, "int8": {signed, 1}, "int16": {signed, 2}, "int32": {signed, 4}, "int64": {signed, 8},
	"uint8": {unsigned, 1}, "uint16": {unsigned, 2}, "uint32": {unsigned, 4}, "uint64": {unsigned, 8},
	"float16": {floats, 2}, "float32": {floats, 4}, "float64": {floats, 8},
}

// others are the encodings of values of variable size.
var others = map[string]kind{
	"bytes": opaque, "jpeg": opaque, "png": opaque, "pil": opaque, "str": utf8Text, "str_decimal": utf8Text,
	"str_int": digits, "str_float": decimals, "json": jsonText,
	"jpeg_array": list, "jpegarray": list, "list[jpeg]": list, "list[png]": list, "list[pil]": list,
}

func newLayout(s *Shard) (*layout, error) {
	l := &layout{Shard: s}
	for _, c := range s.Columns {
		col, err := newColumn(c)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", c.Name, err)
		}
		if col.Size == 0 {
			l.sized++
		}
		l.columns = append(l.columns, col)
	}
	return l, nil
}

func newColumn(c Column) (column, error) {
	col := column{Column: c}
	name, config, configured := strings.Cut(c.Encoding, ":")
	scalar, isScalar := scalars[c.Encoding]
	other, isOther := others[name]
	switch {
	case isScalar && c.Size == 0: // an encoding of another program
	case isScalar:
		if col.kind = scalar.kind; c.Size != scalar.size {
			return col, fmt.Errorf("%w: a column %s of %d bytes", converters.ErrMalformed, c.Encoding, c.Size)
		}
	case name == "ndarray":
		return col, col.array(config)
	case name == "pkl":
		return col, fmt.Errorf("%w: a pickle (pkl) may run any program when it is read", converters.ErrUnsupported)
	case !isOther || configured && name != "jpeg":
		return col, fmt.Errorf("%w: the encoding %.40q", converters.ErrUnsupported, c.Encoding)
	default:
		if col.kind = other; strings.HasPrefix(name, "list[") {
			col.behind = 4
		}
	}
	if c.Name == converters.KeyField && col.kind != utf8Text {
		return col, fmt.Errorf("%w: a key that is not text", converters.ErrUnsupported)
	}
	return col, nil
}

// array parses type and shape of the encoding ndarray, ndarray:TYPE or ndarray:TYPE:N,N.
func (c *column) array(config string) error {
	c.kind = array
	if config == "" {
		return nil
	}
	name, dims, shaped := strings.Cut(config, ":")
	for i := range dtypes {
		if dtypes[i].name == name {
			c.dtype = &dtypes[i]
		}
	}
	ok := c.dtype != nil
	for dim := range strings.SplitSeq(dims, ",") {
		if !shaped {
			break
		}
		n, err := strconv.ParseInt(dim, 10, 64)
		ok = ok && err == nil && n > 0
		c.shape = append(c.shape, n)
	}
	if !ok || len(c.shape) > mostAxes {
		return fmt.Errorf("%w: the encoding %.80q", converters.ErrUnsupported, c.Encoding)
	}
	if c.Size > 0 {
		if _, err := dataSize(c.dtype, c.shape, c.Size); c.shape == nil || err != nil {
			return fmt.Errorf("%w: a column %.80q of %d bytes", converters.ErrMalformed, c.Encoding, c.Size)
		}
	}
	return nil
}

// opaque reports whether Index need not read the values.
func (c *column) opaque() bool { return c.kind == opaque || c.kind == array }
