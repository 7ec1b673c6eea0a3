package input

import (
	"bufio"
	"hash/crc32"
	"io"
)

// A countedReader counts what the LZMA2 reader takes, which is never more than it uses.
type countedReader struct {
	r *bufio.Reader
	n uint64
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += uint64(n)
	return n, err
}

func (c *countedReader) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// A summedReader reads single bytes, and keeps their number and CRC32.
type summedReader struct {
	r   io.ByteReader
	n   uint64
	sum uint32
}

func (s *summedReader) ReadByte() (byte, error) {
	b, err := s.r.ReadByte()
	if err == nil {
		s.n++
		s.sum = crc32.Update(s.sum, crc32.IEEETable, []byte{b})
	}
	return b, err
}

func (s *summedReader) vli() (uint64, error) { return readVLI(s) }

// readVLI reads a variable-length integer: seven bits a byte, the low ones first, at
// most nine bytes, no zero byte at its end.
func readVLI(r io.ByteReader) (uint64, error) {
	var v uint64
	for i := range 9 {
		b, err := r.ReadByte()
		if err != nil {
			return 0, unexpected(err)
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b&0x80 == 0 {
			if b == 0 && i > 0 {
				return 0, errXZ
			}
			return v, nil
		}
	}
	return 0, errXZ
}

// fields reads a block header, whose bytes are all there; bad says that it ended
// within a field.
type fields struct {
	rest []byte
	bad  bool
}

func (f *fields) ReadByte() (byte, error) {
	if len(f.rest) == 0 {
		return 0, io.EOF
	}
	b := f.rest[0]
	f.rest = f.rest[1:]
	return b, nil
}

func (f *fields) byte() byte {
	b, err := f.ReadByte()
	f.bad = f.bad || err != nil
	return b
}

func (f *fields) vli() uint64 {
	v, err := readVLI(f)
	f.bad = f.bad || err != nil
	return v
}
