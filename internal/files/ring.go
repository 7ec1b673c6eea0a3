package files

// A ring allocates memory that is freed in the same order.
//
//	│ free │ allocated │ free │        │ allocated │ free │ allocated │ lost │
//	       tail        head                        head   tail
type ring struct {
	buf        []byte
	head, tail int
	live       int // allocations
}

// alloc allocates n bytes and returns their index, or false if there is not enough room.
func (r *ring) alloc(n int) (at int, ok bool) {
	switch {
	case r.tail <= r.head && n <= len(r.buf)-r.head:
		at = r.head
	case r.tail <= r.head && n < r.tail:
		at = 0
	case r.tail > r.head && n < r.tail-r.head:
		at = r.head
	default:
		return 0, false
	}
	r.head = at + n
	r.live++
	return at, true
}

// free frees the oldest allocation, which must end at end.
func (r *ring) free(end int) {
	r.tail = end
	if r.live--; r.live == 0 {
		r.head, r.tail = 0, 0
	}
}
