package record

import (
	"errors"
	"fmt"
	"math"
)

// A scanner checks one whole shard, which the caller writes to it in consecutive blocks of any size. It holds 12 bytes
// of memory per sample, of which it allocates no more than early before so much of the header has arrived, and no
// payload. It must not be used concurrently.
type scanner struct {
	// Problem, if not nil, is called for each defect when it is found: once for the header, once for each bad sample.
	// Set it before the first Write. The callee may keep the error.
	Problem func(*FormatError)

	h     *header
	pos   int64        // bytes written so far
	ready bool         // the header is complete and its tables are usable
	i     int64        // sample at pos
	at    Extent       // of sample i
	left  int64        // bytes of sample i still to come
	crc   uint32       // of sample i so far
	first *FormatError // first problem, returned by Close
	stop  *FormatError // error of all further calls
}

// early is what a scanner allocates for a header on the word of its head alone, bytes.
const early = 64 << 10

var errScanClosed = errors.New("scanner is closed")

// NewScanner returns a scanner for a file of size bytes, an io.Writer to which the caller writes the file. Its Close
// returns a FileInfo or the first problem, Samples how many samples were checked. Problem, a func(*FormatError) that
// may be set before the first Write, is called for each problem. path is for errors only.
func NewScanner(path string, size int64, opts Options) *scanner {
	return &scanner{h: &header{table: table{path: path, size: size}, opts: opts, most: math.MaxInt64}}
}

// Samples returns the number of samples checked so far, sound or not.
func (s *scanner) Samples() int64 { return s.i }

// Write checks the next block and does not keep it. A bad sample, or a header with a wrong CRC but valid tables, is
// passed to Problem, and the scan continues. Write returns an error if the tables are invalid or the file is longer
// than announced. It passes that error to Problem, too, and all later calls fail.
func (s *scanner) Write(block []byte) (int, error) {
	if s.stop != nil {
		return 0, s.stop
	}
	if int64(len(block)) > s.h.size-s.pos {
		return 0, s.halt(s.h.fault(-1, s.h.size, fmt.Errorf("%w: the file has grown past its %d bytes", ErrHeader, s.h.size)))
	}
	p := block
	if !s.ready {
		if err := s.header(&p); err != nil {
			return len(block) - len(p), err
		}
	}
	for len(p) > 0 {
		k := min(int64(len(p)), s.left)
		s.crc = updateCRC(s.crc, p[:k])
		s.left -= k
		s.pos += k
		p = p[k:]
		s.endSamples()
	}
	return len(block), nil
}

// header takes header bytes from the start of *p. It checks a complete header.
func (s *scanner) header(p *[]byte) error {
	h := s.h
	if h.size < headSize {
		return s.halt(h.short())
	}
	if s.pos < headSize {
		if s.collect(p, headSize); s.pos < headSize {
			return nil
		}
		if bad := h.begin(h.head); bad != nil {
			return s.halt(bad)
		}
	}
	if s.collect(p, payloadOff(h.n)); s.pos < payloadOff(h.n) {
		return nil
	}
	h.sums(h.head[headSize:offsetsOff(h.n)])
	h.offsets(h.head[offsetsOff(h.n):])
	soft, hard := h.finish()
	if soft != nil {
		s.report(soft)
	}
	if hard != nil {
		return s.halt(hard)
	}
	s.ready = true
	s.load()
	s.endSamples()
	return nil
}

// collect moves bytes from the start of *p to the header, until that has end bytes.
func (s *scanner) collect(p *[]byte, end int64) {
	k := min(int64(len(*p)), end-s.pos)
	if need := s.pos + k; need > int64(cap(s.h.head)) {
		if need <= early {
			end = min(end, early)
		}
		s.h.head = append(make([]byte, 0, end), s.h.head...)
	}
	s.h.head = append(s.h.head, (*p)[:k]...)
	*p = (*p)[k:]
	s.pos += k
}

// load starts sample i, if there is one.
func (s *scanner) load() {
	if s.i < s.h.n {
		s.at = s.h.extent(s.i)
		s.left, s.crc = s.at.Size, 0
	}
}

// endSamples checks the CRC of every sample that ends at pos: the current one, if it is complete,
// and the empty samples that follow it.
func (s *scanner) endSamples() {
	for s.i < s.h.n && s.left == 0 {
		if bad := s.h.gate(s.i, s.at, s.crc); bad != nil {
			s.report(bad)
		}
		s.i++
		s.load()
	}
}

// Close ends the scan. It returns nil if exactly size bytes were written and have no defect, otherwise the first
// problem. The FileInfo is zero if the tables are invalid or bytes are missing. A second Close returns an error.
func (s *scanner) Close() (FileInfo, error) {
	switch {
	case s.stop != nil:
	case s.h.size < headSize:
		_, err := s.Write(nil)
		return FileInfo{}, err
	case s.pos < s.h.size:
		s.halt(s.h.fault(-1, s.pos, truncated("%d bytes of %d", s.pos, s.h.size)))
	}
	if s.stop != nil {
		return FileInfo{}, s.first
	}
	sum := FileInfo{Samples: s.h.n, Size: s.h.size, HeaderCRC: s.h.sum}
	s.stop = s.h.fault(-1, -1, errScanClosed)
	if s.first != nil {
		return sum, s.first
	}
	s.first = s.stop
	s.h.head = nil
	return sum, nil
}

func (s *scanner) report(p *FormatError) {
	if s.first == nil {
		s.first = p
	}
	if s.Problem != nil {
		s.Problem(p)
	}
}

func (s *scanner) halt(p *FormatError) error {
	s.report(p)
	s.stop = p
	return p
}
