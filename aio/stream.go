package aio

import (
	"errors"
	"io"
	"os"
)

const (
	// streamLeast is the smallest run, in bytes, that justifies a Reader: when the process ends the kernel takes 35 ms
	// to destroy its queue. Runs of small samples are shorter.
	streamLeast = 2 << 20
	// streamCached is how many of the next bytes must be in the page cache, or all up to the end of the run, to
	// read them from there. It exceeds the kernel's read-ahead, which would otherwise look like a cached file:
	// a read by another process can mark a page, and later reads of that page make the kernel read ahead.
	streamCached = 32 << 20
)

// OpenStream returns a Stream that reads f sequentially, ahead of its caller, and owns f. If the page
// cache has the next 32 MiB, or the rest of the run, the Stream copies them from there. Otherwise it reads past
// the page cache, with many reads in flight; or through it, if the file system has no direct reads or the run has at
// most 2 MiB. At most 8 streams read past the page cache at a time, with 4 MiB each.
//
// size is about the number of bytes that the caller will read, 0 if unknown. A known size is read ahead at once;
// otherwise the number of reads in flight grows gradually.
//
// Each read should begin at the end of the last one, or slightly later. Reads at other offsets are correct but slow.
func OpenStream(f *os.File, size int64) *Stream {
	ReadAhead(f, false)
	return &Stream{readers: &inputReaders, file: f, hint: size, plain: 0 < size && size <= streamLeast}
}

// A Stream is a file opened by [OpenStream]. It is for one goroutine at a time. While it reads past the page cache,
// blocks [first, next) are in flight or read. Block i is in slot i % Depth of the reader, and begins at
// base + i × BlockSize.
type Stream struct {
	readers *readerList
	file    *os.File // reads through the page cache
	hint    int64    // bytes that the caller will read from the first offset
	cached  int64    // the page cache has the file up to here
	plain   bool     // never reads past the page cache
	beyond  int64    // from here on the kernel reads ahead again, since the hint was too small; 0: it does already

	r           *Reader // nil unless it reads past the page cache
	direct      *File   // of the same descriptor; nil before the first read past the page cache
	base        int64
	first, next int
	depth       int   // blocks to keep in flight: doubles up to Depth
	sure        int64 // the caller will probably read up to here
}

// Close waits for the reads in flight and closes the file.
func (s *Stream) Close() error {
	return errors.Join(s.stop(), s.file.Close())
}

// ReadAt reads at any offset; see [OpenStream] for which are fast.
func (s *Stream) ReadAt(b []byte, off int64) (n int, err error) {
	for n < len(b) && err == nil {
		var m int
		if s.r != nil {
			m, err = s.ahead(b[n:], off+int64(n))
		} else {
			m, err = s.near(b[n:], off+int64(n))
		}
		n += m
	}
	return n, err
}

// near reads through the page cache. It returns 0 bytes when it switches to reads past the page cache.
func (s *Stream) near(b []byte, off int64) (int, error) {
	switch {
	case s.plain && s.hint == 0:
		if s.beyond > 0 && off+int64(len(b)) > s.beyond {
			s.beyond = 0
			ReadAhead(s.file, true)
		}
	case s.inCache(off, int64(len(b))):
	case !s.plain:
		return 0, s.start(off)
	default:
		willNeed(s.file, off, s.hint)
		s.beyond, s.hint = off+s.hint, 0
	}
	return s.file.ReadAt(b, off)
}

// inCache reports whether the page cache has size bytes from off, and enough bytes after them.
func (s *Stream) inCache(off, size int64) bool {
	if off+size <= s.cached {
		return true
	}
	st, err := s.file.Stat()
	if err != nil {
		return false
	}
	follow := int64(streamCached)
	if s.hint > 0 {
		follow = min(follow, s.hint)
	}
	to := min(off+max(size, follow), st.Size())
	if to <= off || !inCache(s.file, off, to-off) {
		return false
	}
	s.cached = to
	return off+size <= to
}

// start starts reading past the page cache from off, if possible.
func (s *Stream) start(off int64) error {
	r, err := s.readers.get()
	if err == nil {
		if err = s.setDirect(); err != nil {
			err = errors.Join(err, s.readers.put(r))
		}
	}
	if err != nil { // f is open, so it can be read through the page cache
		s.plain, s.hint = true, 0
		ReadAhead(s.file, true)
		return nil
	}
	s.r = r
	if off >= s.direct.size {
		if err = s.stop(); err == nil {
			err = io.EOF
		}
		return err
	}
	if err = r.begin(0); err == nil {
		r.unlock()
		err = r.use(s.direct, off, 0)
	}
	if err != nil {
		return errors.Join(err, s.stop())
	}
	r.pick(s.direct)
	s.base = alignDown(off, pageSize)
	s.first, s.next, s.depth = 0, 0, min(2, len(r.slots))
	s.sure, s.hint = off+s.hint, 0
	return nil
}

// setDirect turns O_DIRECT on.
func (s *Stream) setDirect() (err error) {
	if s.direct != nil {
		return s.direct.setDirect(true)
	}
	s.direct, err = asDirect(s.file)
	return err
}

// stop waits for the reads in flight and returns to the page cache.
func (s *Stream) stop() error {
	if s.r == nil {
		return nil
	}
	r := s.r
	s.r = nil
	r.end()
	return errors.Join(s.direct.setDirect(false), s.readers.put(r))
}

// ahead copies bytes of the block at off. It returns 0 bytes when it stops reading past the page cache.
func (s *Stream) ahead(b []byte, off int64) (int, error) {
	if s.r.broken != nil {
		return 0, s.r.broken
	}
	for s.first < s.next && off >= s.at(s.first+1) {
		if err := s.pass(); err != nil {
			return 0, err
		}
	}
	switch {
	case off >= s.direct.size:
		return 0, io.EOF
	case off < s.at(s.first) || off >= s.at(s.first+1): // a jump
		return 0, s.stop()
	}
	for s.at(s.next) < s.direct.size && (s.next < s.first+s.depth || s.next < s.first+len(s.r.slots) && s.at(s.next) < s.sure) {
		s.fetch()
	}
	slot := s.first % len(s.r.slots)
	if err := s.r.await(slot); err != nil {
		return 0, err
	}
	s.r.done = s.r.done[:0]
	have, err := s.r.slots[slot].bytes(off)
	n := copy(b, have)
	if n == len(b) {
		err = nil
	}
	return n, err
}

// fetch starts reading the next block.
func (s *Stream) fetch() {
	off := s.at(s.next)
	s.r.prepare(s.next%len(s.r.slots), s.direct, off, int(min(int64(s.r.opts.BlockSize), s.direct.size-off)))
	s.next++
}

// pass releases block first, and waits until its slot can be reused.
func (s *Stream) pass() error {
	err := s.r.await(s.first % len(s.r.slots))
	s.r.done = s.r.done[:0]
	s.first++
	if s.at(s.first) >= s.sure {
		s.depth = min(2*s.depth, len(s.r.slots))
	}
	return err
}

// at returns the offset of a block.
func (s *Stream) at(block int) int64 { return s.base + int64(block)*int64(s.r.opts.BlockSize) }
