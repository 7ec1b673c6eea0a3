package cbor

import (
	"bytes"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
)

// Tags that a decoded value may have. All others are refused.
const (
	positiveBig   = 2     // the integer n of a byte string (RFC 8949, 3.4.3)
	negativeBig   = 3     // −1−n
	selfDescribed = 55799 // marks the item as CBOR (RFC 8949, 3.4.6)
)

// errBelow refuses an integer that no Go type holds.
var errBelow = fmt.Errorf("%w: an integer below -2^63", converters.ErrUnsupported)

// A decoder decodes items to values for converters.Nested. scanner.walk must have checked the items:
// they are complete and not nested too deep.
type decoder struct {
	forms *forms
	b     []byte
}

// head consumes one head.
func (d *decoder) head() head {
	b := d.b
	if len(b) < headMax {
		b = append(make([]byte, 0, headMax), b...)[:headMax]
	}
	h := d.forms.parse(b)
	d.b = d.b[h.size:]
	return h
}

// value consumes the item after its head and returns its value.
func (d *decoder) value(h head) (any, error) {
	switch h.kind {
	case kindBytes, kindChunkedBytes:
		return d.bytes(h), nil
	case kindText, kindChunkedText:
		return string(d.bytes(h)), nil
	case kindArray, kindOpenArray:
		return d.array(h)
	case kindMap, kindOpenMap:
		return d.object(h)
	case kindTag:
		return d.tagged(h)
	case kindExtension:
		return nil, fmt.Errorf("%w: an extension of MessagePack", converters.ErrUnsupported)
	case kindSimple:
		if h.arg == undefined {
			return nil, fmt.Errorf("%w: the value undefined", converters.ErrUnsupported)
		}
		return nil, fmt.Errorf("%w: simple value %d", converters.ErrUnsupported, h.arg)
	}
	v, err := h.value()
	switch v.Kind() {
	case converters.KindInt:
		return v.Int(), err
	case converters.KindFloat:
		return v.Float(), err
	}
	return v.Nested(), err
}

// bytes consumes the string after its head and returns a copy.
func (d *decoder) bytes(h head) []byte {
	if h.kind == kindBytes || h.kind == kindText {
		b := bytes.Clone(d.b[:h.arg])
		d.b = d.b[h.arg:]
		return b
	}
	b := []byte{}
	for c := d.head(); c.kind != kindBreak; c = d.head() {
		b = append(b, d.b[:c.arg]...)
		d.b = d.b[c.arg:]
	}
	return b
}

// next consumes the head of the next item of an array, or of the next key of a map. done is the
// number of items or pairs before it. It returns false at the end of the array or map.
func (d *decoder) next(in head, done uint64) (head, bool) {
	if in.kind == kindArray || in.kind == kindMap {
		if done == in.arg {
			return head{}, false
		}
		return d.head(), true
	}
	h := d.head()
	return h, h.kind != kindBreak
}

func (d *decoder) array(in head) (any, error) {
	list := []any{}
	if in.kind == kindArray {
		list = make([]any, 0, in.arg)
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
func (d *decoder) object(in head) (any, error) {
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
func (d *decoder) key(h head) (any, error) {
	key, err := d.value(h)
	switch key.(type) {
	case []byte, []any, converters.Map:
		return nil, fmt.Errorf("%w: a key of a map that is neither text nor a number", converters.ErrUnsupported)
	}
	return key, err
}

func (d *decoder) tagged(tag head) (any, error) {
	h := d.head()
	switch tag.arg {
	case selfDescribed:
		return d.value(h)
	case positiveBig, negativeBig:
		if h.kind != kindBytes && h.kind != kindChunkedBytes {
			return nil, fmt.Errorf("%w: tag %d on what is not a byte string", converters.ErrMalformed, tag.arg)
		}
		b := bytes.TrimLeft(d.bytes(h), "\x00")
		if len(b) > 8 {
			return nil, fmt.Errorf("%w: an integer of %d bytes", converters.ErrUnsupported, len(b))
		}
		n := head{kind: kindUint}
		if tag.arg == negativeBig {
			n.kind = kindNegative
		}
		for _, c := range b {
			n.arg = n.arg<<8 | uint64(c)
		}
		return d.value(n)
	}
	return nil, fmt.Errorf("%w: tag %d", converters.ErrUnsupported, tag.arg)
}
