package arrow

import (
	"sync"

	"github.com/ffconvert/ffconvert/internal/arrowipc"
)

// A kept caches the decompressed buffers that were read last, of all parts. Samples are read in many short runs, most
// of them in the batch of the previous run. The buffers are shared and must not be changed. The zero value is ready.
type kept struct {
	mu    sync.Mutex
	known map[stored][]byte
	order []stored // oldest first
	bytes int64
}

// A stored identifies a compressed buffer by its part and place.
type stored struct {
	part int
	arrowipc.Span
}

func (k *kept) get(at stored) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known[at]
}

// put caches b, and drops the oldest buffers above limit bytes.
func (k *kept) put(at stored, b []byte, limit int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known[at] != nil || int64(len(b)) > limit {
		return
	}
	if k.known == nil {
		k.known = make(map[stored][]byte)
	}
	k.known[at], k.order, k.bytes = b, append(k.order, at), k.bytes+int64(len(b))
	for k.bytes > limit {
		k.bytes -= int64(len(k.known[k.order[0]]))
		delete(k.known, k.order[0])
		k.order = k.order[1:]
	}
}
