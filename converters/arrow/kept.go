package arrow

import (
	"sync"

	"github.com/ffconvert/ffconvert/internal/arrowipc"
)

// A kept has the decompressed buffers that were read last, of all parts. Samples are read in many short runs, most of which lie
// in the batch of the run before. The buffers are shared, and not written to. The zero value is ready.
type kept struct {
	mu    sync.Mutex
	known map[stored][]byte
	order []stored // oldest first
	bytes int64
}

// A stored is where a compressed buffer lies, and in which part.
type stored struct {
	part int
	arrowipc.Span
}

func (k *kept) get(at stored) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known[at]
}

// put keeps b, and drops the oldest buffers over limit bytes.
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
