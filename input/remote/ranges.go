package remote

import (
	"math"
	"sync"
)

// A span is the part of an object that one worker fetches.
type span struct {
	start, pos int64 // bytes [start, pos) are in the file
	end        int64 // -1: where the object ends
}

// A ledger knows how far an object is in the file without a gap, as its ranges grow in
// parallel. What it holds grows with the ranges that are ahead of a slow one: 16 bytes each.
type ledger struct {
	mu    sync.Mutex
	size  int64 // of a range
	total int64 // bytes of the object; -1: not known yet
	low   int64 // start of the first range that is not complete
	pos   map[int64]int64
	more  chan struct{} // holds a token when there is news
}

func newLedger(size, total int64) *ledger {
	return &ledger{size: size, total: total, pos: make(map[int64]int64), more: make(chan struct{}, 1)}
}

// single says that one span is the whole object. To be called before the first byte.
func (l *ledger) single() {
	l.mu.Lock()
	l.size = math.MaxInt64
	l.mu.Unlock()
}

// wrote says that the file holds the range that starts at start up to pos.
func (l *ledger) wrote(start, pos int64) {
	l.mu.Lock()
	l.pos[start] = pos
	for pos, ok := l.pos[l.low]; ok && l.size != math.MaxInt64 && pos-l.low == l.size; pos, ok = l.pos[l.low] {
		delete(l.pos, l.low)
		l.low = pos
	}
	l.mu.Unlock()
	l.tell()
}

// ended says where the object ends.
func (l *ledger) ended(total int64) {
	l.mu.Lock()
	l.total = total
	l.mu.Unlock()
	l.tell()
}

func (l *ledger) tell() {
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// prefix is how many bytes from the start are in the file, and whether these are all.
func (l *ledger) prefix() (n int64, all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n = l.low
	if pos, ok := l.pos[l.low]; ok {
		n = pos
	}
	return n, n == l.total
}
