package arrow

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/arrowipc"
)

// A loader reads the buffers of a layout.
type loader struct {
	r        io.ReaderAt
	codec    string
	limit    int64                    // Options.MaxBatch
	room     *int64                   // rest of the limit, for decompressed buffers
	expanded map[arrowipc.Span][]byte // decompressed buffers
	raw      []byte
	expander *columns.Expander
	part     int
	kept     *kept
}

// size returns the decompressed size of a buffer, and its place in the file if it is not compressed.
func (l *loader) size(s arrowipc.Span) (n int64, plain arrowipc.Span, err error) {
	if l.codec == "" || s.Size == 0 {
		return s.Size, s, nil
	}
	var head [8]byte
	if s.Size < 8 {
		return 0, s, fmt.Errorf("%w: a compressed buffer of %d bytes", converters.ErrMalformed, s.Size)
	}
	if err := scan.ReadFull(l.r, head[:], s.Off); err != nil {
		return 0, s, err
	}
	switch n = int64(binary.LittleEndian.Uint64(head[:])); {
	case n == -1:
		return s.Size - 8, arrowipc.Span{Off: s.Off + 8, Size: s.Size - 8}, nil
	case n < 0:
		return 0, s, fmt.Errorf("%w: a compressed buffer becomes %d bytes", converters.ErrMalformed, n)
	}
	return n, arrowipc.Span{}, nil
}

// bytes returns n decompressed bytes from offset from of a buffer.
func (l *loader) bytes(s arrowipc.Span, from, n int64) ([]byte, error) {
	if n == 0 {
		return []byte{}, nil
	}
	if b := l.expanded[s]; b != nil && from >= 0 && from <= int64(len(b)) && n <= int64(len(b))-from {
		return b[from : from+n : from+n], nil
	}
	size, plain, err := l.size(s)
	switch {
	case err != nil:
		return nil, err
	case from < 0 || n < 0 || from > size || n > size-from:
		return nil, fmt.Errorf("%w: %d bytes at %d of a buffer that has %d", converters.ErrMalformed, n, from, size)
	case plain.Size > 0 && n > l.limit:
		return nil, columns.Over("max-batch-size", "%d bytes of a buffer", n)
	case plain.Size > 0:
		b := make([]byte, n) // not more than the file has
		return b, scan.ReadFull(l.r, b, plain.Off+from)
	}
	if *l.room -= size; *l.room < 0 {
		return nil, columns.Over("max-batch-size", "a batch with a buffer of %d bytes, and the others", size)
	}
	if b := l.kept.get(stored{l.part, s}); int64(len(b)) == size {
		l.expanded[s] = b
		return b[from : from+n : from+n], nil
	}
	l.raw = columns.Sized(l.raw, s.Size-8)
	if err := scan.ReadFull(l.r, l.raw, s.Off+8); err != nil {
		return nil, err
	}
	b, err := l.expander.Expand(nil, l.raw, l.codec, size)
	if err != nil {
		return nil, fmt.Errorf("%w: a buffer does not decompress: %w", converters.ErrMalformed, err)
	}
	l.expanded[s] = b
	l.kept.put(stored{l.part, s}, b, l.limit)
	return b[from : from+n : from+n], nil
}

// An array is rows [from, from+n) of a column, in memory.
type array struct {
	*arrowipc.Column
	l       *loader
	from, n int64
	valid   []byte // validity bits; nil: no value is null
	data    []byte // values, or n+1 offsets; n offsets for arrowipc.ShapeListView
	sizes   []byte // n sizes for arrowipc.ShapeListView
	body    []byte // bytes from the first offset on; nil if not read
	base    int64
	plain   arrowipc.Span // place of the bytes in the file, if they are uncompressed
	views   []int64       // sizes of more, for arrowipc.ShapeView
	kids    []*array
	words   []word // values of the dictionary
}

// How much of byte strings is read. Compressed buffers are decompressed in all cases but bytesNone, so that Index finds
// what Read would refuse.
const (
	bytesNone = iota // lengths, for a field that is not needed
	bytesSize        // lengths, for an index
	bytesEach        // by value, from the file
	bytesAll
)

// array reads rows of a column. which is for the column's own bytes; the bytes of nested columns are all read.
func (r *reader) array(l *loader, c *arrowipc.Column, from, n int64, which int) (*array, error) {
	a := &array{Column: c, l: l, from: from, n: n}
	if from < 0 || n < 0 || from > c.Rows || n > c.Rows-from {
		return nil, fmt.Errorf("%w: %d values from %d on, of %d", converters.ErrMalformed, n, from, c.Rows)
	}
	var err error
	if c.Nulls > 0 && n > 0 && c.Shape != arrowipc.ShapeNull {
		if a.valid, err = l.bytes(c.Valid, from/8, (from+n+7)/8-from/8); err != nil {
			return nil, err
		}
	}
	if c.Values != nil {
		if a.words, err = r.dictionary(c.Field); err != nil {
			return nil, err
		}
	}
	switch c.Shape {
	case arrowipc.ShapeFixed, arrowipc.ShapeView:
		if n > 1<<40/max(c.Width, 1) {
			return nil, fmt.Errorf("%w: %d values of %d bytes", converters.ErrMalformed, n, c.Width)
		}
		a.data, err = l.bytes(c.Data, from*c.Width, n*c.Width)
		for _, s := range c.More {
			size, plain, sizeErr := l.size(s)
			if sizeErr != nil {
				return nil, sizeErr
			}
			if a.views = append(a.views, size); which != bytesNone && s != plain && err == nil {
				_, err = l.bytes(s, 0, size)
			}
		}
	case arrowipc.ShapeBits:
		a.data, err = l.bytes(c.Data, from/8, (from+n+7)/8-from/8)
	case arrowipc.ShapeBytes:
		err = a.bytes(which)
	case arrowipc.ShapeList, arrowipc.ShapeMap:
		var last int64
		if last, err = a.offsets(); err == nil {
			err = r.kid(a, c.Children[0], a.base, last-a.base)
		}
	case arrowipc.ShapeListView:
		var last int64
		if last, err = a.listViews(); err == nil {
			err = r.kid(a, c.Children[0], a.base, last-a.base)
		}
	case arrowipc.ShapeFixedList:
		err = r.kid(a, c.Children[0], from*c.Size, n*c.Size)
	case arrowipc.ShapeStruct:
		for i, child := range c.Children {
			if c.Payload != nil && which != bytesAll && child.Field == c.Payload {
				var kid *array
				if kid, err = r.array(l, child, from, n, which); err == nil {
					a.kids = append(a.kids, kid)
				}
			} else {
				err = r.kid(a, c.Children[i], from, n)
			}
			if err != nil {
				break
			}
		}
	}
	return a, err
}

func (r *reader) kid(a *array, c *arrowipc.Column, from, n int64) error {
	kid, err := r.array(a.l, c, from, n, bytesAll)
	a.kids = append(a.kids, kid)
	return err
}

func (a *array) offset(i int64) int64 { return a.number(a.data, i) }

// number returns number i of offsets or sizes.
func (a *array) number(b []byte, i int64) int64 {
	if a.Wide {
		return int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
}

// elements returns the range in kids[0] of the elements of value i of a list or a map.
func (a *array) elements(i int64) (from, to int64) {
	switch a.Shape {
	case arrowipc.ShapeFixedList:
		return i * a.Size, (i + 1) * a.Size
	case arrowipc.ShapeListView:
		from = a.offset(i) - a.base
		return from, from + a.number(a.sizes, i)
	}
	return a.offset(i) - a.base, a.offset(i+1) - a.base
}

// listViews reads and checks the offsets and sizes of arrowipc.ShapeListView. It sets base to the first element of any
// value, and returns the end of the last one.
func (a *array) listViews() (last int64, err error) {
	width := int64(4)
	if a.Wide {
		width = 8
	}
	if a.data, err = a.l.bytes(a.Column.Data, a.from*width, a.n*width); err != nil {
		return 0, err
	}
	if a.sizes, err = a.l.bytes(a.More[0], a.from*width, a.n*width); err != nil {
		return 0, err
	}
	first := true
	for i := range a.n {
		off, n := a.offset(i), a.number(a.sizes, i)
		if a.null(i) {
			continue
		}
		if most := a.Children[0].Rows; off < 0 || n < 0 || off > most || n > most-off {
			return 0, fmt.Errorf("%w: a list of %d elements at %d of %d", converters.ErrMalformed, n, off, most)
		}
		if n == 0 {
			continue
		}
		if first || off < a.base {
			a.base = off
		}
		first, last = false, max(last, off+n)
	}
	return last, nil
}

// offsets reads and checks the offsets, and returns the last one. A column without values may have no offsets.
func (a *array) offsets() (last int64, err error) {
	if a.n == 0 {
		return 0, nil
	}
	width := int64(4)
	if a.Wide {
		width = 8
	}
	if a.data, err = a.l.bytes(a.Column.Data, a.from*width, (a.n+1)*width); err != nil {
		return 0, err
	}
	a.base = a.offset(0)
	last = a.base
	for i := range a.n {
		next := a.offset(i + 1)
		if next < last {
			return 0, fmt.Errorf("%w: offsets %d and %d", converters.ErrMalformed, last, next)
		}
		last = next
	}
	if a.base < 0 {
		return 0, fmt.Errorf("%w: an offset of %d", converters.ErrMalformed, a.base)
	}
	return last, nil
}

// bytes reads offsets and bytes.
func (a *array) bytes(which int) error {
	last, err := a.offsets()
	if err != nil || a.n == 0 {
		return err
	}
	size, plain, err := a.l.size(a.More[0])
	if err != nil {
		return err
	}
	if last > size {
		return fmt.Errorf("%w: an offset of %d into %d bytes", converters.ErrMalformed, last, size)
	}
	a.plain = plain
	each := plain.Size > 0 && last-a.base > min(smallRange, a.l.limit)
	if which == bytesNone || which == bytesSize && plain.Size > 0 || which == bytesEach && each {
		return nil
	}
	a.body, err = a.l.bytes(a.More[0], a.base, last-a.base)
	return err
}

func (a *array) null(i int64) bool {
	if a.Shape == arrowipc.ShapeNull {
		return true
	}
	if a.valid == nil {
		return false
	}
	bit := a.from%8 + i
	return a.valid[bit/8]>>(bit%8)&1 == 0
}
