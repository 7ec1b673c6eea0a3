package direct

import (
	"io"
	"sync"
)

// A Writer writes to a file in a goroutine of its own, so that the caller fills the next block while
// one is written. It writes in the order of the calls, and nothing after an error: the head of a
// shard, which comes last, never follows a payload that was not written. A Writer must be used by one
// goroutine, and must be closed.
type Writer struct {
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

// NewWriter writes to w. The Writer owns the buffers until it is closed. It needs one more than the
// caller fills at a time.
func NewWriter(w io.WriterAt, buffers [][]byte) *Writer {
	s := &Writer{w: w, full: make(chan block, len(buffers)), free: make(chan []byte, len(buffers)), ended: make(chan struct{})}
	for _, b := range buffers {
		s.free <- b[:0]
	}
	go s.run()
	return s
}

func (s *Writer) run() {
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

func (s *Writer) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// SwapAt writes p, a buffer of the Writer, and returns an empty buffer; see record.BufferSwapper.
func (s *Writer) SwapAt(p []byte, off int64) ([]byte, error) {
	if len(p) > 0 {
		s.full <- block{p, off}
	}
	return <-s.free, s.failed()
}

// WriteAt writes a copy of p, which must fit into a buffer. The error may be the one of an earlier
// write.
func (s *Writer) WriteAt(p []byte, off int64) (int, error) {
	s.full <- block{append(<-s.free, p...), off}
	return len(p), s.failed()
}

// Close waits for all writes and returns the error of the first one that failed. It may be called
// again.
func (s *Writer) Close() error {
	if s.full != nil {
		close(s.full)
		<-s.ended
		s.full = nil
	}
	return s.err
}
