package lookup

import "math/bits"

// A matches has consecutive samples of a dataset, by the hash of their keys. Samples with equal keys form a list in
// order.
type matches struct {
	entries []entry
	slots   []uint32 // by hash, with open addressing: number of the first sample of the key that is not taken, from 1; 0: free
}

type entry struct {
	key hash
	content
	next  uint32 // next sample of the same key, from 1; 0: none
	taken bool
}

func newMatches(n int) *matches {
	return &matches{entries: make([]entry, 0, n), slots: make([]uint32, 1<<bits.Len(uint(2*n-1)))}
}

func (t *matches) add(x *item) {
	t.entries = append(t.entries, entry{key: x.key(), content: x.content})
}

// slot returns the slot of a key, or the free slot for it.
func (t *matches) slot(key hash) *uint32 {
	mask := uint64(len(t.slots) - 1)
	for i := key[0] & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; *s == 0 || t.entries[*s-1].key == key {
			return s
		}
	}
}

// link adds all samples to the slots, from the last to the first, so that lists are in order.
func (t *matches) link() {
	for i := len(t.entries) - 1; i >= 0; i-- {
		s := t.slot(t.entries[i].key)
		t.entries[i].next = *s
		*s = uint32(i) + 1
	}
}

// take removes the first sample of a key from the table.
func (t *matches) take(key hash) (i int, ok bool) {
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

// A bitmap has one bit for each sample. It grows with the samples that are set, not with a number in a manifest.
type bitmap []uint64

func (b bitmap) has(n int64) bool { return n/64 < int64(len(b)) && b[n/64]&(1<<(n%64)) != 0 }

func (b *bitmap) set(n int64) {
	for n/64 >= int64(len(*b)) {
		*b = append(*b, 0)
	}
	(*b)[n/64] |= 1 << (n % 64)
}
