package aio

import (
	"errors"
	"io"
	"os"
	"sync"
)

const (
	// scatterRow is how many bytes are read in a row before the rest is read ahead.
	scatterRow = 128 << 10
	// scatterGap is the largest gap between reads in a row. To read so few bytes takes a device no longer than
	// another request.
	scatterGap = 32 << 10
	// scatterFrom is the number of jumps from which on a file is read past the page cache. Fewer do not pay for
	// the queue.
	scatterFrom = 8
)

// A Scatter makes the small scattered reads of many goroutines with one queue, past the page cache. Each
// goroutine waits for its own read, so as many are in flight as there are goroutines: a system call for each
// would have the Go runtime wait with as few as it has processors (BenchmarkScatter).
//
// The zero value is ready. While files are open it has 4 MiB and a goroutine.
type Scatter struct {
	mu    sync.Mutex
	files int
	queue *scatterQueue // nil if no file is open
}

// Open returns a file that reads f, and owns it. It is for an index: consecutive reads go through the page
// cache, with read-ahead, so that the pages are there when the file is read again; other reads go past the page
// cache. Open returns f itself if the page cache has the whole file.
func (s *Scatter) Open(f *os.File) ReaderAtCloser {
	if st, err := f.Stat(); err != nil || inCache(f, 0, st.Size()) {
		return f
	}
	ReadAhead(f, false)
	return &scattered{of: s, file: f, cache: cacheReader{file: f}}
}

// use returns the queue, for one more file.
func (s *Scatter) use() (*scatterQueue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files == 0 {
		r, err := inputReaders.get()
		if err != nil {
			return nil, err
		}
		s.queue = newScatterQueue(&inputReaders, r)
	}
	s.files++
	return s.queue, nil
}

// release ends the queue with the last file.
func (s *Scatter) release() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files--; s.files > 0 {
		return nil
	}
	q := s.queue
	s.queue = nil
	return q.close()
}

// scattered is a file of a Scatter.
type scattered struct {
	of    *Scatter
	file  *os.File // through the page cache
	cache cacheReader
	from  int64 // where the reads in a row began
	end   int64 // where the last read ended
	jumps int   // reads that did not begin there

	queue  *scatterQueue // nil until it reads past the page cache
	direct *File         // of the same descriptor
	past   bool          // its O_DIRECT is on

	// The read that the queue makes.
	buf  []byte
	off  int64
	n    int
	err  error
	done chan struct{} // takes a value when the read is over
}

func (f *scattered) Close() error {
	var err error
	if f.queue != nil {
		err = f.of.release()
	}
	return errors.Join(err, f.file.Close())
}

func (f *scattered) ReadAt(b []byte, off int64) (n int, err error) {
	if off < f.end || off > f.end+scatterGap {
		f.from = off
		f.cache.jump(off)
		if f.jumps++; f.jumps == scatterFrom {
			f.open()
		}
	}
	row := off+int64(len(b))-f.from > scatterRow
	if err := f.setPast(f.queue != nil && !row); err != nil {
		return 0, err
	}
	switch {
	case f.past:
		n, err = f.read(b, off)
	case row:
		n, err = f.cache.ReadAt(b, off)
	default:
		n, err = f.file.ReadAt(b, off)
	}
	f.end = off + int64(n)
	return n, err
}

// open prepares reads past the page cache. Without them the file is read through it.
func (f *scattered) open() {
	queue, err := f.of.use()
	if err != nil {
		return
	}
	if f.direct, err = asDirect(f.file); err != nil {
		f.of.release() // of a queue that has read nothing for this file
		return
	}
	f.queue, f.past, f.done = queue, true, make(chan struct{}, 1)
}

// setPast makes the next reads go past the page cache, or through it.
func (f *scattered) setPast(past bool) error {
	if past == f.past {
		return nil
	}
	f.past = past
	return f.direct.setDirect(past)
}

// read reads past the page cache.
func (f *scattered) read(b []byte, off int64) (n int, err error) {
	for n < len(b) && err == nil {
		f.off = off + int64(n)
		size := min(int64(len(b)-n), int64(f.queue.r.opts.BlockSize-pageSize), f.direct.size-f.off)
		if size <= 0 {
			return n, io.EOF
		}
		f.buf = b[n : n+int(size)]
		f.queue.reads <- f
		<-f.done
		n, err = n+f.n, f.err
	}
	return n, err
}

// A scatterQueue reads for the files of a Scatter in a goroutine of its own.
type scatterQueue struct {
	readers *readerList // of r
	r       *Reader
	reads   chan *scattered
	ended   chan struct{}

	bySlot []*scattered // the file that each slot is read for; nil if the slot is free
	free   []int        // slots
}

func newScatterQueue(readers *readerList, r *Reader) *scatterQueue {
	q := &scatterQueue{readers: readers, r: r, reads: make(chan *scattered, len(r.slots)), ended: make(chan struct{}), bySlot: make([]*scattered, len(r.slots))}
	for i := range r.slots {
		q.free = append(q.free, i)
	}
	go q.run()
	return q
}

func (q *scatterQueue) close() error {
	close(q.reads)
	<-q.ended
	return q.readers.put(q.r)
}

func (q *scatterQueue) run() {
	defer close(q.ended)
	err := q.r.begin()
	q.r.unlock()
	for err == nil {
		if !q.prepare() {
			break
		}
		if err = q.r.flush(); err == nil && len(q.r.done) == 0 {
			err = q.r.reap(1)
		}
		for _, i := range q.r.done {
			q.finish(i)
		}
		q.r.done = q.r.done[:0]
	}
	q.r.end()
	if err == nil {
		return
	}
	for _, f := range q.bySlot {
		if f != nil {
			f.fail(err)
		}
	}
	for f := range q.reads {
		f.fail(err)
	}
}

// prepare gives the reads that wait to the reader. It waits for one if none is in flight, and returns false
// if there are none and there will be none.
func (q *scatterQueue) prepare() bool {
	for len(q.free) > 0 {
		var f *scattered
		var open bool
		if len(q.free) == len(q.bySlot) {
			if f, open = <-q.reads; !open {
				return false
			}
		} else {
			select {
			case f = <-q.reads:
			default:
			}
		}
		if f == nil {
			break
		}
		i := q.free[len(q.free)-1]
		q.free = q.free[:len(q.free)-1]
		q.bySlot[i] = f
		if len(q.free) == len(q.bySlot)-1 { // nothing is in flight: the reads in flight are of one kernel
			q.r.pick(f.direct)
		}
		from := alignDown(f.off, f.direct.align)
		q.r.prepare(i, f.direct, from, int(f.off-from)+len(f.buf))
	}
	return true
}

// finish copies the bytes of a slot to the reader of its file, and frees the slot.
func (q *scatterQueue) finish(i int) {
	s, f := &q.r.slots[i], q.bySlot[i]
	q.bySlot[i] = nil
	q.free = append(q.free, i)
	b, err := s.bytes(f.off)
	f.n, f.err = copy(f.buf, b), err
	if f.n == len(f.buf) {
		f.err = nil
	}
	f.done <- struct{}{}
}

func (f *scattered) fail(err error) {
	f.n, f.err = 0, err
	f.done <- struct{}{}
}
