package record

import (
	"errors"
	"fmt"
)

// A Scanner checks one whole shard that is handed to it as consecutive blocks, in file order and
// of any sizes. It holds 12 bytes a sample, grown as they arrive, and no payload. It is for one
// goroutine.
type Scanner struct {
	// Problem, if not nil, is called for each fault as it is found: once for the header, once for
	// each bad sample. Set it before the first Write. The errors are not reused.
	Problem func(*FormatError)

	h     *header
	pos   int64 // bytes taken
	ready bool  // the header is complete and its tables are usable
	i     int64 // sample at pos
	at    Extent
	left  int64 // bytes of it to come
	crc   uint32
	first *FormatError // first problem: what Close returns
	stop  *FormatError // why going on is pointless
}

var errScanClosed = errors.New("scanner is closed")

// NewScanner checks a file of size bytes; path is for messages only.
func NewScanner(path string, size int64, opts Options) *Scanner {
	return &Scanner{h: newHeader(path, size, opts, true)}
}

// Samples is how many samples have been checked so far, sound or not.
func (s *Scanner) Samples() int64 { return s.i }

// Write takes the next block; the caller may reuse it afterwards. A bad sample, or a header whose
// CRC alone is wrong, goes to Problem and the scan continues. An error means that the structure is
// unusable or that there are more bytes than announced; it went to Problem too, and each later
// call fails.
func (s *Scanner) Write(block []byte) (int, error) {
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
		s.turn()
	}
	return len(block), nil
}

// header feeds the header from the start of *p and, once it is complete, judges it.
func (s *Scanner) header(p *[]byte) error {
	k, bad := s.h.write(*p)
	*p = (*p)[k:]
	s.pos += int64(k)
	if bad != nil {
		return s.halt(bad)
	}
	if !s.h.complete() {
		return nil
	}
	soft, hard := s.h.finish()
	if soft != nil {
		s.report(soft)
	}
	if hard != nil {
		return s.halt(hard)
	}
	s.ready = true
	s.load()
	s.turn()
	return nil
}

// load starts sample i, if there is one.
func (s *Scanner) load() {
	if s.i < s.h.n {
		s.at = s.h.extent(s.i)
		s.left, s.crc = s.at.Size, 0
	}
}

// turn passes every sample that ends at pos through the gate: the one begun, and the empty ones
// that follow it.
func (s *Scanner) turn() {
	for s.i < s.h.n && s.left == 0 {
		if bad := s.h.gate(s.i, s.at, s.crc); bad != nil {
			s.report(bad)
		}
		s.i++
		s.load()
	}
}

// Close ends the scan. It returns nil only if exactly size bytes were given and not one problem
// was found; otherwise it returns the first problem. The Summary is zero where the structure is
// unusable. A second Close returns an error.
func (s *Scanner) Close() (Summary, error) {
	switch {
	case s.stop != nil:
	case s.h.size < headSize:
		_, err := s.Write(nil)
		return Summary{}, err
	case s.pos < s.h.size:
		s.halt(s.h.fault(-1, s.pos, truncated("%d bytes of %d", s.pos, s.h.size)))
	}
	if s.stop != nil {
		return Summary{}, s.first
	}
	sum := Summary{Samples: s.h.n, Size: s.h.size, HeaderCRC: s.h.sum}
	s.stop = s.h.fault(-1, -1, errScanClosed)
	if s.first != nil {
		return sum, s.first
	}
	s.first = s.stop
	s.h.sums, s.h.offs = column[uint32]{}, column[int64]{}
	return sum, nil
}

func (s *Scanner) report(p *FormatError) {
	if s.first == nil {
		s.first = p
	}
	if s.Problem != nil {
		s.Problem(p)
	}
}

func (s *Scanner) halt(p *FormatError) error {
	s.report(p)
	s.stop = p
	return p
}
