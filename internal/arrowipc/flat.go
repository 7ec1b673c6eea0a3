package arrowipc

import (
	"encoding/binary"
	"errors"
)

var errFlat = errors.New("its metadata leads out of itself")

// A flat is the position of a table, a struct or a list element in a flatbuffer. All positions in a buffer share one error;
// after it members are zero or missing. Format: https://flatbuffers.dev/internals.
type flat struct {
	b   []byte
	at  int64
	err *error
}

// flatRoot returns the root table of a buffer.
func flatRoot(b []byte) flat {
	f := flat{b, 0, new(error)}
	f.at = int64(f.u32(0))
	return f
}

// bytes returns n bytes from at on. Outside of the buffer it sets the error and returns nil.
func (f flat) bytes(at, n int64) []byte {
	if *f.err != nil || at < 0 || n < 0 || at > int64(len(f.b)) || n > int64(len(f.b))-at {
		if *f.err == nil {
			*f.err = errFlat
		}
		return nil
	}
	return f.b[at : at+n]
}

func (f flat) u32(at int64) uint32 {
	if b := f.bytes(at, 4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (f flat) i64(at int64) int64 {
	if b := f.bytes(at, 8); b != nil {
		return int64(binary.LittleEndian.Uint64(b))
	}
	return 0
}

// member returns the position of member i of a table, 0 if it is missing.
func (f flat) member(i int64) int64 {
	vtable := f.at - int64(int32(f.u32(f.at)))
	head := f.bytes(vtable, 2)
	if head == nil || 4+2*i+2 > int64(binary.LittleEndian.Uint16(head)) {
		return 0
	}
	slot := f.bytes(vtable+4+2*i, 2)
	if slot == nil || binary.LittleEndian.Uint16(slot) == 0 {
		return 0
	}
	return f.at + int64(binary.LittleEndian.Uint16(slot))
}

// number returns a signed member of size bytes; usual if it is missing.
func (f flat) number(i, size, usual int64) int64 {
	at := f.member(i)
	if at == 0 {
		return usual
	}
	b := f.bytes(at, size)
	if b == nil {
		return usual
	}
	switch size {
	case 1:
		return int64(int8(b[0]))
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// table returns a member that is a table; false if it is missing.
func (f flat) table(i int64) (flat, bool) {
	at := f.member(i)
	if at == 0 {
		return f, false
	}
	return flat{f.b, at + int64(f.u32(at)), f.err}, *f.err == nil
}

// text returns a member that is text; nil if it is missing.
func (f flat) text(i int64) []byte {
	at := f.member(i)
	if at == 0 {
		return nil
	}
	at += int64(f.u32(at))
	return f.bytes(at+4, int64(f.u32(at)))
}

// list calls element for each element of a list. size is that of an element in bytes; 0: the elements are tables.
func (f flat) list(i, size int64, element func(flat)) {
	at := f.member(i)
	if at == 0 {
		return
	}
	at += int64(f.u32(at))
	n := int64(f.u32(at))
	each := max(size, 4)
	if f.bytes(at+4, n*each) == nil && n > 0 {
		return
	}
	for k := int64(0); k < n && *f.err == nil; k++ {
		e := flat{f.b, at + 4 + k*each, f.err}
		if size == 0 {
			e.at += int64(f.u32(e.at))
		}
		element(e)
	}
}
