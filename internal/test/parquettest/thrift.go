package parquettest

import "encoding/binary"

// A thrift writes the compact protocol.
type thrift struct {
	b    []byte
	last []int // number of the last field, of the structs that are begun
}

func (t *thrift) begin() { t.last = append(t.last, 0) }

func (t *thrift) end() {
	t.b = append(t.b, 0)
	t.last = t.last[:len(t.last)-1]
}

func (t *thrift) field(id int, kind byte) {
	last := &t.last[len(t.last)-1]
	t.b = append(t.b, byte(id-*last)<<4|kind)
	*last = id
}

func (t *thrift) i32(id, n int) {
	t.field(id, 5)
	t.b = binary.AppendVarint(t.b, int64(n))
}

func (t *thrift) i64(id int, n int64) {
	t.field(id, 6)
	t.b = binary.AppendVarint(t.b, n)
}

func (t *thrift) bool(id int, v bool) {
	kind := byte(2)
	if v {
		kind = 1
	}
	t.field(id, kind)
}

func (t *thrift) bytes(id int, s string) {
	t.field(id, 8)
	t.b = binary.AppendUvarint(t.b, uint64(len(s)))
	t.b = append(t.b, s...)
}

func (t *thrift) i32s(id int, all ...int) {
	t.field(id, 9)
	t.b = append(t.b, byte(len(all))<<4|5)
	for _, n := range all {
		t.b = binary.AppendVarint(t.b, int64(n))
	}
}

func (t *thrift) strings(id int, all ...string) {
	t.field(id, 9)
	t.b = append(t.b, 0xF8)
	t.b = binary.AppendUvarint(t.b, uint64(len(all)))
	for _, s := range all {
		t.b = binary.AppendUvarint(t.b, uint64(len(s)))
		t.b = append(t.b, s...)
	}
}

// list begins a list of structs.
func (t *thrift) list(id, n int) {
	t.field(id, 9)
	t.b = append(t.b, 0xFC)
	t.b = binary.AppendUvarint(t.b, uint64(n))
}

// structure begins a struct that is a field.
func (t *thrift) structure(id int) {
	t.field(id, 12)
	t.begin()
}
