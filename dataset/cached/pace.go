package cached

import (
	"sync"
	"time"
)

// A pace is how fast an object store answers one request, by those that were made lately.
type pace struct {
	mu    sync.Mutex
	first float64 // seconds until the first byte
	rate  float64 // bytes a second from then on; 0: not known
}

const (
	largeAnswer = 1 << 20 // bytes of an answer that tells the rate; smaller ones tell the time until the first byte
	latest      = 1. / 8  // what the latest request counts for

	leastFree = 64 << 10
	mostFree  = 2 << 20 // of many more, others that wait for their first byte would wait longer
)

// saw takes note of a request.
func (p *pace) saw(size int64, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, n := max(took.Seconds(), 1e-6), float64(size)
	switch {
	case size < largeAnswer && p.rate > 0:
		p.first += latest * (max(0, s-n/p.rate) - p.first)
	case size < largeAnswer:
		p.first += latest * (s - p.first)
	case p.rate == 0:
		p.rate = n / s
	default:
		p.rate += latest * (n/max(s-p.first, s/8) - p.rate)
	}
}

// free returns how many bytes come in the time until the first one: a request for so many takes twice as long as one for a byte.
func (p *pace) free() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(max(leastFree, min(p.rate*p.first, mostFree)))
}
