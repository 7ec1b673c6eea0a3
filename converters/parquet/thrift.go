package parquet

import (
	"errors"
	"math"
)

// Types of Thrift's compact protocol: the low four bits of a field's head.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// thriftDepth limits the nesting of structs and lists; Parquet's own metadata nests five deep.
const thriftDepth = 32

var (
	errThriftEnd = errors.New("its metadata ends early")
	errThrift    = errors.New("its metadata is not valid Thrift")
)

// A thrift decodes Thrift's compact protocol. After an error all methods return zero.
type thrift struct {
	b     []byte
	at    int
	depth int
	err   error
}

func (t *thrift) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

func (t *thrift) byte() byte {
	if t.err != nil || t.at >= len(t.b) {
		t.fail(errThriftEnd)
		return 0
	}
	t.at++
	return t.b[t.at-1]
}

// uvarint decodes an unsigned integer of at most 64 bits.
func (t *thrift) uvarint() uint64 {
	var n uint64
	for shift := 0; shift < 64; shift += 7 {
		c := t.byte()
		n |= uint64(c&0x7F) << shift
		if c < 0x80 {
			return n
		}
	}
	t.fail(errThrift)
	return 0
}

// integer decodes a signed integer that is the value of a field of a type.
func (t *thrift) integer(kind byte) int64 {
	switch kind {
	case thriftTrue:
		return 1
	case thriftFalse:
		return 0
	case thriftByte:
		return int64(int8(t.byte()))
	case thriftI16, thriftI32, thriftI64:
		n := t.uvarint()
		return int64(n>>1) ^ -int64(n&1)
	}
	t.fail(errThrift)
	return 0
}

// small is integer for 32 bits.
func (t *thrift) small(kind byte) int32 {
	n := t.integer(kind)
	if n < math.MinInt32 || n > math.MaxInt32 {
		t.fail(errThrift)
		return 0
	}
	return int32(n)
}

// binary returns bytes or text, without a copy.
func (t *thrift) binary(kind byte) []byte {
	if kind != thriftBinary {
		t.fail(errThrift)
		return nil
	}
	n := t.uvarint()
	if t.err != nil || n > uint64(len(t.b)-t.at) {
		t.fail(errThriftEnd)
		return nil
	}
	t.at += int(n)
	return t.b[t.at-int(n) : t.at : t.at]
}

// record decodes a struct. field must decode the value of a field and return true, or return false to skip it.
func (t *thrift) record(kind byte, field func(id int, kind byte) bool) {
	if kind != thriftStruct || t.depth >= thriftDepth {
		t.fail(errThrift)
		return
	}
	t.depth++
	for id := 0; t.err == nil; {
		head := t.byte()
		if t.err != nil || head == 0 {
			break
		}
		if delta := int(head >> 4); delta != 0 {
			id += delta
		} else {
			id = int(int16(t.integer(thriftI16)))
		}
		if kind := head & 15; !field(id, kind) {
			t.skip(kind)
		}
	}
	t.depth--
}

// fields decodes a struct: field i to what to[i] points at, or by the function that it is, which must decode the value. It
// skips the others.
func (t *thrift) fields(kind byte, to []any) {
	t.record(kind, func(id int, kind byte) bool {
		if id <= 0 || id >= len(to) {
			return false
		}
		switch to := to[id].(type) {
		case *int32:
			*to = t.small(kind)
		case *int64:
			*to = t.integer(kind)
		case *bool:
			*to = t.integer(kind) != 0
		case *[]byte:
			*to = t.binary(kind)
		case *string:
			*to = string(t.binary(kind))
		case func(kind byte):
			to(kind)
		default:
			return false
		}
		return true
	})
}

// list decodes a list. element must decode one element.
func (t *thrift) list(kind byte, element func(kind byte)) {
	if kind != thriftList && kind != thriftSet {
		t.fail(errThrift)
		return
	}
	head := t.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = t.uvarint()
	}
	if n > uint64(len(t.b)-t.at) { // an element has at least one byte
		t.fail(errThriftEnd)
	}
	for ; n > 0 && t.err == nil; n-- {
		element(head & 15)
	}
}

func (t *thrift) skip(kind byte) {
	if t.depth++; t.depth > thriftDepth {
		t.fail(errThrift)
	}
	switch kind {
	case thriftTrue, thriftFalse: // encoded in the head of the field
	case thriftByte:
		t.byte()
	case thriftI16, thriftI32, thriftI64:
		t.uvarint()
	case thriftDouble:
		for range 8 {
			t.byte()
		}
	case thriftBinary:
		t.binary(kind)
	case thriftList, thriftSet:
		t.list(kind, t.skipElement)
	case thriftMap:
		if n := t.uvarint(); n > 0 {
			kinds := t.byte()
			for ; n > 0 && t.err == nil; n-- {
				t.skipElement(kinds >> 4)
				t.skipElement(kinds & 15)
			}
		}
	case thriftStruct:
		t.record(kind, func(int, byte) bool { return false })
	default:
		t.fail(errThrift)
	}
	t.depth--
}

// skipElement is skip for an element of a list or a map, where a bool takes one byte.
func (t *thrift) skipElement(kind byte) {
	if kind == thriftTrue || kind == thriftFalse {
		kind = thriftByte
	}
	t.skip(kind)
}
