package shard

import (
	"io"
	"sync"
)

// An asyncWriter writes to a file in a goroutine of its own, so that the next records are made
// while the ones before are on their way to the device: of small records that is half
// of the work (BenchmarkRows). Blocks are written in the order in which they come; after
// an error none is, so that the head of a shard, which comes last, never follows a payload
// that was not written. It is for one goroutine, and must be closed.
type asyncWriter struct {
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

// newAsyncWriter writes to w from the buffers that it is given, which are its own until it is
// closed. It needs one more than are being filled at a time.
func newAsyncWriter(w io.WriterAt, buffers [][]byte) *asyncWriter {
	s := &asyncWriter{w: w, full: make(chan block, len(buffers)), free: make(chan []byte, len(buffers)), ended: make(chan struct{})}
	for _, b := range buffers {
		s.free <- b[:0]
	}
	go s.run()
	return s
}

func (s *asyncWriter) run() {
	defer close(s.ended)
	for b := range s.full {
		if s.failed() == nil {
			if _, err := s.w.WriteAt(b.data, b.off); err != nil {
				s.mu.Lock()
				s.err = err
				s.mu.Unlock()
			}
		}
		s.free <- b.data[:0]
	}
}

func (s *asyncWriter) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// SwapAt writes p, a buffer of the asyncWriter, and returns an empty buffer; see [record.BufferSwapper].
func (s *asyncWriter) SwapAt(p []byte, off int64) ([]byte, error) {
	if len(p) > 0 {
		s.full <- block{p, off}
	}
	return <-s.free, s.failed()
}

// WriteAt writes a copy of p, which fits into a buffer. The error may come from a
// write before.
func (s *asyncWriter) WriteAt(p []byte, off int64) (int, error) {
	s.full <- block{append(<-s.free, p...), off}
	return len(p), s.failed()
}

// close waits until everything is written and returns the error of the write that failed.
// It may be called again.
func (s *asyncWriter) close() error {
	if s.full != nil {
		close(s.full)
		<-s.ended
		s.full = nil
	}
	return s.err
}
