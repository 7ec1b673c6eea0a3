package arrow

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
	"github.com/ffconvert/ffconvert/internal/arrowipc"
)

// value returns value i of a first-level field. Its bytes are valid until the next call that reads.
func (r *reader) value(a *array, i int64) (converters.Value, error) {
	if a.null(i) {
		return converters.Nested(nil), nil
	}
	if a.Values != nil {
		word, at, err := a.word(i)
		if err != nil {
			return converters.Value{}, err
		}
		return r.value(word, at)
	}
	switch a.Shape {
	case arrowipc.ShapeBits:
		bit := a.from%8 + i
		return converters.Nested(a.data[bit/8]>>(bit%8)&1 == 1), nil
	case arrowipc.ShapeFixed:
		return fixed(a.Field, a.data[i*a.Width:(i+1)*a.Width:(i+1)*a.Width]), nil
	case arrowipc.ShapeBytes, arrowipc.ShapeView:
		return r.bytes(a, i)
	}
	v, err := r.content(a, i)
	return converters.Nested(v), err
}

// word finds the array and index of dictionary value i.
func (a *array) word(i int64) (*array, int64, error) {
	v := fixed(a.Field, a.data[i*a.Width:(i+1)*a.Width])
	at := int64(-1)
	if v.Kind() == converters.KindInt {
		at = v.Int()
	}
	left := at
	for _, w := range a.words {
		if left >= 0 && left < w.n {
			return w.array, left, nil
		}
		left -= w.n
	}
	return nil, 0, fmt.Errorf("%w: index %d into a dictionary of %d values", converters.ErrMalformed, at, at-left)
}

// fixed converts b, a value of fixed size.
func fixed(x *arrowipc.Field, b []byte) converters.Value {
	switch v, ok := x.Number(b); {
	case ok:
		return v
	case x.IsText():
		return converters.Text(columns.UUID(b))
	case x.IsBytes():
		return converters.Bytes(b)
	}
	big := slices.Clone(b)
	slices.Reverse(big)
	return converters.Text([]byte(columns.Decimal(columns.TwosComplement(big), x.Scale)))
}

// bytes returns a value of bytes or text.
func (r *reader) bytes(a *array, i int64) (converters.Value, error) {
	var b []byte
	var size int64
	var err error
	switch {
	case a.Shape == arrowipc.ShapeView:
		b, size, err = r.view(a, i)
	case a.body != nil:
		from, to := a.offset(i)-a.base, a.offset(i+1)-a.base
		b, size = a.body[from:to:to], to-from
	default:
		from, to := a.offset(i), a.offset(i+1)
		if size = to - from; size > 0 && !r.unread[a.Field] && size <= r.src.opts.MaxValue {
			b, err = r.stream(a, from, size)
		}
	}
	switch {
	case err != nil:
		return converters.Value{}, err
	case size > r.src.opts.MaxValue:
		return converters.Value{}, columns.Over("max-value-size", "a value of %d bytes", size)
	case a.IsText() && !utf8.Valid(b):
		return converters.Value{}, fmt.Errorf("%w: text that is not UTF-8", converters.ErrMalformed)
	case a.IsText():
		return converters.Text(b), nil
	case b == nil:
		return converters.Opaque(size), nil
	}
	return converters.Bytes(b), nil
}

// view returns a value of arrowipc.ShapeView: a length of 4 bytes, then up to 12 bytes inline, or the first 4 bytes,
// the number of a buffer and an offset.
func (r *reader) view(a *array, i int64) (b []byte, size int64, err error) {
	v := a.data[16*i : 16*i+16 : 16*i+16]
	size = int64(int32(binary.LittleEndian.Uint32(v)))
	if size >= 0 && size <= 12 {
		return v[4 : 4+size], size, nil
	}
	in, off := int64(int32(binary.LittleEndian.Uint32(v[8:]))), int64(int32(binary.LittleEndian.Uint32(v[12:])))
	if size < 0 || in < 0 || in >= int64(len(a.More)) || off < 0 || off > a.views[in] || size > a.views[in]-off {
		return nil, 0, fmt.Errorf("%w: a value of %d bytes at %d of buffer %d", converters.ErrMalformed, size, off, in)
	}
	if size > r.src.opts.MaxValue || r.unread[a.Field] {
		return nil, size, nil
	}
	b, err = a.l.bytes(a.More[in], off, size)
	return b, size, err
}

// nested returns value i of a field within another one. It does not share memory with buffers.
func (r *reader) nested(a *array, i int64) (any, error) {
	if r.rowRoom -= columns.ElementSize; r.rowRoom < 0 {
		return nil, columns.Over("max-value-size", "the nested values of the row")
	}
	v, err := r.value(a, i)
	if err != nil {
		return nil, err
	}
	if r.rowRoom -= v.Len(); r.rowRoom < 0 {
		return nil, columns.Over("max-value-size", "the nested values of the row")
	}
	return columns.Own(&v), nil
}

// content returns a struct, a list or a map.
func (r *reader) content(a *array, i int64) (any, error) {
	if a.Shape == arrowipc.ShapeStruct {
		return r.structure(a, i)
	}
	from, to := a.elements(i)
	if a.Shape != arrowipc.ShapeMap {
		list := []any{}
		for k := from; k < to; k++ {
			v, err := r.nested(a.kids[0], k)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	}
	var pairs converters.MapBuilder
	for k := from; k < to; k++ {
		entry := a.kids[0]
		key, err := r.nested(entry.kids[0], k)
		if err != nil {
			return nil, err
		}
		v, err := r.nested(entry.kids[1], k)
		if err != nil {
			return nil, err
		}
		if !pairs.Add(key, v) {
			return nil, fmt.Errorf("%w key %v of a map", converters.ErrDuplicate, key)
		}
	}
	return pairs.Map(), nil
}

func (r *reader) structure(a *array, i int64) (any, error) {
	m := make(converters.Map, 0, len(a.kids))
	at, path := -1, ""
	for k, kid := range a.kids {
		v, err := r.nested(kid, i)
		if err != nil {
			return nil, err
		}
		switch {
		case a.Payload == nil:
		case kid.Field == a.Payload && v == nil:
			at = k
		case kid.Field == a.Beside && v != nil:
			path = v.(string)
		}
		m = append(m, converters.Pair{Key: kid.Name, Value: v})
	}
	if at >= 0 && path != "" {
		b, err := r.files.Value(path, true, r.rowRoom)
		if err != nil {
			return nil, err
		}
		if r.rowRoom -= b.Len(); r.rowRoom < 0 {
			return nil, columns.Over("max-value-size", "the nested values of the row")
		}
		m[at].Value = b.Data()
	}
	return m, nil
}
