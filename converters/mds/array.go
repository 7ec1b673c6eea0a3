package mds

import (
	"encoding/binary"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/heads"
)

// A dtype is a type of numbers in an array.
type dtype struct {
	code  byte
	name  string
	descr string // of numpy
	size  int64  // bytes
}

var dtypes = []dtype{
	{8, "uint8", "|u1", 1}, {9, "int8", "|i1", 1}, {16, "uint16", "<u2", 2}, {17, "int16", "<i2", 2}, {18, "float16", "<f2", 2},
	{32, "uint32", "<u4", 4}, {33, "int32", "<i4", 4}, {34, "float32", "<f4", 4}, {64, "uint64", "<u8", 8}, {65, "int64", "<i8", 8}, {66, "float64", "<f8", 8},
}

// mostAxes is the largest number of axes: it is stored in six bits.
const mostAxes = 63

// mostHead is the maximum size of the type and the shape of an array, in bytes.
const mostHead = 2 + 8*mostAxes

// arrayHead parses the type and the shape of an array of size bytes. b is its first mostHead bytes, or all of it. It
// returns the size of the head.
//
//	┌──────┬────────────────────────────┬───────────────┬─────────┐
//	│ type │ axes << 2 | log2 of size   │ shape         │ numbers │
//	│ 1    │ 1                          │ 1, 2, 4, 8 ×  │         │
//	└──────┴────────────────────────────┴───────────────┴─────────┘
//	type: only if the encoding does not name it · axes and shape: only if the encoding does not give the shape
func (c *column) arrayHead(b []byte, size int64, shape []int64) (head int64, d *dtype, _ []int64, err error) {
	at := 0
	if d = c.dtype; d == nil {
		if len(b) < 1 {
			return 0, nil, nil, fmt.Errorf("%w: an array without a type", converters.ErrMalformed)
		}
		for i := range dtypes {
			if dtypes[i].code == b[0] {
				d = &dtypes[i]
			}
		}
		if d == nil {
			return 0, nil, nil, fmt.Errorf("%w: an array of type %d", converters.ErrMalformed, b[0])
		}
		at = 1
	}
	if shape = append(shape[:0], c.shape...); c.shape == nil {
		if len(b) < at+1 || len(b) < at+1+int(b[at]>>2)<<(b[at]&3) {
			return 0, nil, nil, fmt.Errorf("%w: an array without its shape", converters.ErrMalformed)
		}
		axes, width := int(b[at]>>2), 1<<(b[at]&3)
		at++
		var word [8]byte
		for range axes {
			clear(word[:])
			copy(word[:], b[at:at+width])
			shape = append(shape, int64(binary.LittleEndian.Uint64(word[:])))
			at += width
		}
	}
	_, err = dataSize(d, shape, size-int64(at))
	return int64(at), d, shape, err
}

// dataSize returns the size of the numbers of an array. It is an error unless that is want.
func dataSize(d *dtype, shape []int64, want int64) (int64, error) {
	n := d.size
	for _, dim := range shape {
		if dim < 0 || dim > 0 && n > want/dim {
			n = -1
			break
		}
		n *= dim
	}
	if n != want {
		return 0, fmt.Errorf("%w: an array %v of %s has %d bytes", converters.ErrMalformed, shape, d.name, want)
	}
	return n, nil
}

// appendArray appends an array in numpy's file format.
func (r *reader) appendArray(c *column, b []byte) ([]byte, error) {
	head, d, shape, err := c.arrayHead(b, int64(len(b)), r.shape)
	r.shape = shape
	if err != nil {
		return nil, err
	}
	from := len(r.arena)
	r.arena = append(heads.AppendArray(r.arena, d.descr, shape), b[head:]...)
	return r.arena[from:len(r.arena):len(r.arena)], nil
}

// arraySize returns the size of an array in numpy's file format. b is as in arrayHead.
func (r *reader) arraySize(c *column, b []byte, size int64) (int64, error) {
	head, d, shape, err := c.arrayHead(b, size, r.shape)
	r.shape = shape
	if err != nil {
		return 0, err
	}
	r.head = heads.AppendArray(r.head[:0], d.descr, shape)
	return int64(len(r.head)) + size - head, nil
}
