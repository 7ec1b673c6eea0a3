package cbor

import (
	"bytes"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/heads"
)

// Tags that a decoded value may have. All others are refused.
const (
	positiveBig   = 2     // the integer n of a byte string (RFC 8949, 3.4.3)
	negativeBig   = 3     // −1−n
	selfDescribed = 55799 // marks the item as CBOR (RFC 8949, 3.4.6)
)

// A decoder decodes items to values for converters.Nested. parser.walk must have checked the items:
// they are complete and not nested too deep.
type decoder struct {
	forms *heads.Forms
	b     []byte
}

// head consumes one head.
func (d *decoder) head() heads.Head {
	b := d.b
	if len(b) < heads.Max {
		b = append(make([]byte, 0, heads.Max), b...)[:heads.Max]
	}
	h := d.forms.Parse(b)
	d.b = d.b[h.Size:]
	return h
}

// value consumes the item after its head and returns its value.
func (d *decoder) value(h heads.Head) (any, error) {
	switch h.Kind {
	case heads.Bytes, heads.ChunkedBytes:
		return d.bytes(h), nil
	case heads.Text, heads.ChunkedText:
		return string(d.bytes(h)), nil
	case heads.Array, heads.OpenArray:
		return d.array(h)
	case heads.Map, heads.OpenMap:
		return d.object(h)
	case heads.Tag:
		return d.tagged(h)
	case heads.Extension:
		return nil, fmt.Errorf("%w: an extension of MessagePack", converters.ErrUnsupported)
	case heads.Simple:
		if h.Arg == heads.Undefined {
			return nil, fmt.Errorf("%w: the value undefined", converters.ErrUnsupported)
		}
		return nil, fmt.Errorf("%w: simple value %d", converters.ErrUnsupported, h.Arg)
	}
	v, err := h.Value()
	switch v.Kind() {
	case converters.KindInt:
		return v.Int(), err
	case converters.KindFloat:
		return v.Float(), err
	}
	return v.Nested(), err
}

// bytes consumes the string after its head and returns a copy.
func (d *decoder) bytes(h heads.Head) []byte {
	if h.Kind == heads.Bytes || h.Kind == heads.Text {
		b := bytes.Clone(d.b[:h.Arg])
		d.b = d.b[h.Arg:]
		return b
	}
	b := []byte{}
	for c := d.head(); c.Kind != heads.Break; c = d.head() {
		b = append(b, d.b[:c.Arg]...)
		d.b = d.b[c.Arg:]
	}
	return b
}

// next consumes the head of the next item of an array, or of the next key of a map. done is the
// number of items or pairs before it. It returns false at the end of the array or map.
func (d *decoder) next(in heads.Head, done uint64) (heads.Head, bool) {
	if in.Kind == heads.Array || in.Kind == heads.Map {
		if done == in.Arg {
			return heads.Head{}, false
		}
		return d.head(), true
	}
	h := d.head()
	return h, h.Kind != heads.Break
}

func (d *decoder) array(in heads.Head) (any, error) {
	list := []any{}
	if in.Kind == heads.Array {
		list = make([]any, 0, in.Arg)
	}
	for {
		h, ok := d.next(in, uint64(len(list)))
		if !ok {
			return list, nil
		}
		v, err := d.value(h)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
}

// object consumes a map and returns a converters.Map.
func (d *decoder) object(in heads.Head) (any, error) {
	var m converters.MapBuilder
	for n := uint64(0); ; n++ {
		h, ok := d.next(in, n)
		if !ok {
			return m.Map(), nil
		}
		key, err := d.key(h)
		if err != nil {
			return nil, err
		}
		v, err := d.value(d.head())
		if err != nil {
			return nil, err
		}
		if !m.Add(key, v) {
			return nil, fmt.Errorf("%w key %.100q in a map", converters.ErrDuplicate, fmt.Sprint(key))
		}
	}
}

// key consumes the key of a pair. Bytes, arrays and maps are refused.
func (d *decoder) key(h heads.Head) (any, error) {
	key, err := d.value(h)
	switch key.(type) {
	case []byte, []any, converters.Map:
		return nil, fmt.Errorf("%w: a key of a map that is neither text nor a number", converters.ErrUnsupported)
	}
	return key, err
}

func (d *decoder) tagged(tag heads.Head) (any, error) {
	h := d.head()
	switch tag.Arg {
	case selfDescribed:
		return d.value(h)
	case positiveBig, negativeBig:
		if h.Kind != heads.Bytes && h.Kind != heads.ChunkedBytes {
			return nil, fmt.Errorf("%w: tag %d on what is not a byte string", converters.ErrMalformed, tag.Arg)
		}
		b := bytes.TrimLeft(d.bytes(h), "\x00")
		if len(b) > 8 {
			return nil, fmt.Errorf("%w: an integer of %d bytes", converters.ErrUnsupported, len(b))
		}
		n := heads.Head{Kind: heads.Uint}
		if tag.Arg == negativeBig {
			n.Kind = heads.Negative
		}
		for _, c := range b {
			n.Arg = n.Arg<<8 | uint64(c)
		}
		return d.value(n)
	}
	return nil, fmt.Errorf("%w: tag %d", converters.ErrUnsupported, tag.Arg)
}
