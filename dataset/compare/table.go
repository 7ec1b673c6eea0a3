package compare

import "math/bits"

// A table has consecutive samples of a dataset by the hash of their keys. Those of one key are a list in their order.
type table struct {
	entries []entry
	slots   []uint32 // the first of each key that is not taken, from 1 on; 0: free. Open addressing
}

type entry struct {
	key hash
	content
	next  uint32 // the next of the same key, from 1 on; 0: none
	taken bool
}

func newTable(n int) *table {
	return &table{entries: make([]entry, 0, n), slots: make([]uint32, 1<<bits.Len(uint(2*n-1)))}
}

// reset empties the table, for n samples, at most as many as it was made for.
func (t *table) reset(n int) {
	t.entries = t.entries[:0:n]
	clear(t.slots)
}

func (t *table) add(x *item) {
	t.entries = append(t.entries, entry{key: x.key(), content: x.content})
}

// slot returns the slot of a key, or the free one where it belongs.
func (t *table) slot(key hash) *uint32 {
	mask := uint64(len(t.slots) - 1)
	for i := key[0] & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; *s == 0 || t.entries[*s-1].key == key {
			return s
		}
	}
}

// link enters all samples: from the last to the first, so that lists are in their order.
func (t *table) link() {
	for i := len(t.entries) - 1; i >= 0; i-- {
		s := t.slot(t.entries[i].key)
		t.entries[i].next = *s
		*s = uint32(i) + 1
	}
}

// take takes the first sample of a key out of the table.
func (t *table) take(key hash) (i int, ok bool) {
	s := t.slot(key)
	if *s == 0 || t.entries[*s-1].taken {
		return 0, false
	}
	i = int(*s - 1)
	e := &t.entries[i]
	if e.taken = true; e.next != 0 {
		*s = e.next
	}
	return i, true
}

// A bitmap has a bit a sample. It grows with the samples that were seen, not with the number in a manifest.
type bitmap []uint64

func (b bitmap) has(n int64) bool { return n/64 < int64(len(b)) && b[n/64]&(1<<(n%64)) != 0 }

func (b *bitmap) set(n int64) {
	for n/64 >= int64(len(*b)) {
		*b = append(*b, 0)
	}
	(*b)[n/64] |= 1 << (n % 64)
}
