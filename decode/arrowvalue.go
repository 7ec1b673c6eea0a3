package decode

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/arrowipc"
)

// MostNulls is the largest number of values of a column that takes no bytes: a few bytes may claim any number.
const MostNulls = 1 << 16

// An arrowRecord has the buffers of columns.
type arrowRecord struct {
	data   []byte
	limits Limits
}

func (r *arrowRecord) bytes(s arrowipc.Span) []byte {
	return r.data[s.Off : s.Off+s.Size : s.Off+s.Size]
}

// check refuses a column of which a buffer is too short, whose offsets lead astray, or whose type encode does not write, and columns in
// it. They may be nested up to depth levels. It adds the size of their buffers.
func (r *arrowRecord) check(c *arrowipc.Column, depth int, size *int64) error {
	short := malformed("bad Arrow stream: a buffer is too short")
	if c.Values != nil || c.Wide {
		return unsupportedColumn(c)
	}
	if c.Nulls > 0 && c.Shape != arrowipc.ShapeNull && c.Valid.Size < (c.Rows+7)/8 {
		return short
	}
	*size += c.Valid.Size + c.Data.Size
	next := depth - 1
	switch c.Shape {
	case arrowipc.ShapeNull:
	case arrowipc.ShapeBits:
		if c.Data.Size < (c.Rows+7)/8 {
			return short
		}
	case arrowipc.ShapeFixed:
		switch c.DType {
		case "int64", "uint64", "float64", "float32":
		default:
			return unsupportedColumn(c)
		}
		if c.Data.Size/c.Width < c.Rows {
			return short
		}
	case arrowipc.ShapeBytes:
		*size += c.More[0].Size
		return r.checkOffsets(c, c.More[0].Size)
	case arrowipc.ShapeList, arrowipc.ShapeMap:
		if c.Shape == arrowipc.ShapeMap {
			next = depth // its pairs are structs
		}
		if err := r.checkOffsets(c, c.Children[0].Rows); err != nil {
			return err
		}
	case arrowipc.ShapeStruct:
		for _, child := range c.Children {
			if child.Rows < c.Rows {
				return short
			}
		}
	default:
		return unsupportedColumn(c)
	}
	if (len(c.Children) == 0 && c.Shape == arrowipc.ShapeStruct || c.Shape == arrowipc.ShapeNull) && c.Rows > MostNulls {
		return fmt.Errorf("%w: a list of %d values that take no bytes", converters.ErrUnsupported, c.Rows)
	}
	if len(c.Children) > 0 && depth == 0 {
		return tooDeep(r.limits.MaxDepth)
	}
	for _, child := range c.Children {
		if err := r.check(child, next, size); err != nil {
			return err
		}
	}
	return nil
}

func unsupportedColumn(c *arrowipc.Column) error {
	return fmt.Errorf("%w: a column of the type %s", converters.ErrUnsupported, c.DType)
}

// checkOffsets checks that offsets rise up to most at last. A column without rows may have none.
func (r *arrowRecord) checkOffsets(c *arrowipc.Column, most int64) error {
	if c.Rows == 0 {
		return nil
	}
	b := r.bytes(c.Data)
	if int64(len(b))/4 < c.Rows+1 {
		return malformed("bad Arrow stream: a buffer is too short")
	}
	for i, last := int64(0), int64(0); i <= c.Rows; i++ {
		at := int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
		if at < last || at > most {
			return malformed("an offset of %d behind %d, of %d", at, last, most)
		}
		last = at
	}
	return nil
}

// offsets returns where value i of a column begins and ends.
func (r *arrowRecord) offsets(c *arrowipc.Column, i int64) (from, to int64) {
	b := r.data[c.Data.Off+4*i:]
	return int64(binary.LittleEndian.Uint32(b)), int64(binary.LittleEndian.Uint32(b[4:]))
}

func (r *arrowRecord) bit(s arrowipc.Span, i int64) bool { return r.data[s.Off+i/8]>>(i%8)&1 == 1 }

// value returns value i of a column that was checked. Bytes are not copied.
func (r *arrowRecord) value(c *arrowipc.Column, i int64) (any, error) {
	if c.Shape == arrowipc.ShapeNull || c.Nulls > 0 && !r.bit(c.Valid, i) {
		return nil, nil
	}
	switch c.Shape {
	case arrowipc.ShapeBits:
		return r.bit(c.Data, i), nil
	case arrowipc.ShapeFixed:
		return r.number(c, i), nil
	case arrowipc.ShapeBytes:
		from, to := r.offsets(c, i)
		b := r.bytes(c.More[0])[from:to:to]
		switch {
		case c.IsBytes():
			return b, nil
		case !utf8.Valid(b):
			return nil, malformed("text that is not UTF-8")
		}
		return string(b), nil
	case arrowipc.ShapeList:
		return r.list(c, i)
	case arrowipc.ShapeMap:
		return r.object(c, i)
	}
	return r.structure(c, i)
}

func (r *arrowRecord) number(c *arrowipc.Column, i int64) any {
	b := r.data[c.Data.Off+c.Width*i:]
	switch c.DType {
	case "int64":
		return int64(binary.LittleEndian.Uint64(b))
	case "uint64":
		return binary.LittleEndian.Uint64(b)
	case "float32":
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

func (r *arrowRecord) list(c *arrowipc.Column, i int64) (any, error) {
	list := []any{}
	for from, to := r.offsets(c, i); from < to; from++ {
		x, err := r.value(c.Children[0], from)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

func (r *arrowRecord) object(c *arrowipc.Column, i int64) (any, error) {
	var m converters.MapBuilder
	pairs := c.Children[0]
	for from, to := r.offsets(c, i); from < to; from++ {
		key, err := r.value(pairs.Children[0], from)
		if err != nil {
			return nil, err
		}
		if key == nil || !isKey(key) {
			return nil, badKey()
		}
		x, err := r.value(pairs.Children[1], from)
		if err != nil {
			return nil, err
		}
		if !m.Add(key, x) {
			return nil, keyTwice(key)
		}
	}
	return m.Map(), nil
}

func (r *arrowRecord) structure(c *arrowipc.Column, i int64) (any, error) {
	var m converters.MapBuilder
	for _, child := range c.Children {
		if !utf8.ValidString(child.Name) {
			return nil, malformed("the name of a field is not UTF-8")
		}
		x, err := r.value(child, i)
		if err != nil {
			return nil, err
		}
		if !m.Add(child.Name, x) {
			return nil, keyTwice(child.Name)
		}
	}
	return m.Map(), nil
}
