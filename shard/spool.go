package shard

import (
	"io"
	"sync"
)

// spoolBuffers is how many buffers a spool has beside the one that is being filled: one is
// written while the other waits.
const spoolBuffers = 2

// A spool writes to a file in a goroutine of its own, so that the next records are made
// while the ones before are copied into the page cache: of small records that is half
// of the work (BenchmarkRows). Blocks are written in the order in which they come; after
// an error none is, so that the head of a shard, which comes last, never follows a payload
// that was not written. It is for one goroutine, and must be closed.
type spool struct {
	w     io.WriterAt
	full  chan block
	free  chan []byte
	ended chan struct{}

	mu  sync.Mutex
	err error // of the first write that failed
}

// A block belongs at off.
type block struct {
	data []byte
	off  int64
}

func newSpool(w io.WriterAt) *spool {
	s := &spool{w: w, full: make(chan block, spoolBuffers), free: make(chan []byte, spoolBuffers), ended: make(chan struct{})}
	for range spoolBuffers {
		s.free <- nil // they are made when they are needed
	}
	go s.run()
	return s
}

func (s *spool) run() {
	defer close(s.ended)
	for b := range s.full {
		if s.failed() == nil {
			if _, err := s.w.WriteAt(b.data, b.off); err != nil {
				s.mu.Lock()
				s.err = err
				s.mu.Unlock()
			}
		}
		s.free <- b.data
	}
}

func (s *spool) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// TakeAt writes p, which belongs to the spool from now on, and returns an empty buffer in
// its place. An error may be that of a write before.
func (s *spool) TakeAt(p []byte, off int64) ([]byte, error) {
	next := <-s.free
	s.full <- block{p, off}
	if cap(next) < cap(p) {
		next = make([]byte, 0, cap(p))
	}
	return next[:0], s.failed()
}

// WriteAt writes a copy of p. An error may be that of a write before.
func (s *spool) WriteAt(p []byte, off int64) (int, error) {
	for n := 0; n < len(p); {
		b := <-s.free
		if cap(b) == 0 {
			b = make([]byte, 0, spoolBlock)
		}
		b = append(b[:0], p[n:min(len(p), n+cap(b))]...)
		s.full <- block{b, off + int64(n)}
		n += len(b)
	}
	return len(p), s.failed()
}

// spoolBlock is the size in bytes of a buffer that a spool makes by itself.
const spoolBlock = 1 << 20

// close waits until everything is written and returns the error of the write that failed.
// It may be called again.
func (s *spool) close() error {
	if s.full != nil {
		close(s.full)
		<-s.ended
		s.full = nil
	}
	return s.err
}
