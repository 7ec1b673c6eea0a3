package direct

import (
	"cmp"
	"io"
	"os"
	"sync"
)

// A writer writes to a file in goroutines of its own, so that the caller fills the next block while
// others are written. Aligned blocks are written at the same time. A block that is not aligned is written
// after all blocks before it and before all blocks after it, and none is written after an error: the
// head of a shard, which is not aligned and comes last, never follows a payload that was not written. A
// Writer must be used by one goroutine, and must be closed.
type writer struct {
	w     io.WriterAt
	full  chan block
	free  chan []byte
	ended chan struct{}

	mu  sync.Mutex
	err error // of the first write that failed
}

// directAlign is the alignment in bytes of offset and length of a write past the page cache. It
// suffices for every device; a file system that requires more returns EINVAL.
const directAlign = 4096

func isAligned(p []byte, off int64) bool { return (off|int64(len(p)))%directAlign == 0 }

// A block belongs at off.
type block struct {
	data []byte
	off  int64
}

// NewWriter writes to f, past the page cache where it can. The Writer owns the buffers until it is closed. It needs one
// more than the caller fills at a time; each further one permits one more write in flight.
func NewWriter(f *os.File, buffers [][]byte) *writer { return newWriter(newFile(f), buffers) }

// newWriter writes to w, which must accept aligned writes from several goroutines.
func newWriter(w io.WriterAt, buffers [][]byte) *writer {
	s := &writer{w: w, full: make(chan block, len(buffers)), free: make(chan []byte, len(buffers)), ended: make(chan struct{})}
	for _, b := range buffers {
		s.free <- b[:0]
	}
	go s.run()
	return s
}

// run writes aligned blocks at the same time, and any other block alone, after all blocks before it.
func (s *writer) run() {
	defer close(s.ended)
	var inFlight sync.WaitGroup
	for b := range s.full {
		if !isAligned(b.data, b.off) {
			inFlight.Wait()
			s.write(b)
			continue
		}
		inFlight.Go(func() { s.write(b) })
	}
	inFlight.Wait()
}

func (s *writer) write(b block) {
	if s.failed() == nil {
		if _, err := s.w.WriteAt(b.data, b.off); err != nil {
			s.mu.Lock()
			s.err = cmp.Or(s.err, err)
			s.mu.Unlock()
		}
	}
	s.free <- b.data[:0]
}

func (s *writer) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// SwapAt writes p, a buffer of the Writer, and returns an empty buffer; see record.BufferSwapper.
func (s *writer) SwapAt(p []byte, off int64) ([]byte, error) {
	if len(p) > 0 {
		s.full <- block{p, off}
	}
	return <-s.free, s.failed()
}

// WriteAt writes a copy of p, which must fit into a buffer. The error may be the one of an earlier
// write.
func (s *writer) WriteAt(p []byte, off int64) (int, error) {
	s.full <- block{append(<-s.free, p...), off}
	return len(p), s.failed()
}

// Close waits for all writes and returns the error of the first one that failed. It may be called
// again.
func (s *writer) Close() error {
	if s.full != nil {
		close(s.full)
		<-s.ended
		s.full = nil
	}
	return s.err
}
