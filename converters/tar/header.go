package tar

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/ffconvert/ffconvert/converters"
)

const blockSize = 512

// Types of members, and of the metadata that precedes them.
const (
	typeRegular   = '0' // also for types NUL and '7'
	typeHardLink  = '1'
	typeSymlink   = '2'
	typeChar      = '3'
	typeBlock     = '4'
	typeDirectory = '5'
	typeFIFO      = '6'
	typeDumpDir   = 'D' // GNU: a directory, its payload a list of names
	typeVolume    = 'V' // GNU: the label of the volume
	typeMulti     = 'M' // GNU: continued from another volume
	typeSparse    = 'S' // GNU
	typePAX       = 'x'
	typePAXGlobal = 'g'
	typeLongName  = 'L' // GNU
	typeLongLink  = 'K' // GNU
)

// A header is one parsed header block.
type header struct {
	typ  byte
	size int64
	name []byte // with the prefix
	dir  bool   // the name field itself ends in a slash
}

// Fields of a header that differ between members: name, size and time, and the checksum behind them.
const (
	nameEnd = 100
	sizeAt  = 124
	timeAt  = 136
	sumAt   = 148
	sumEnd  = 156

	prefixAt = 345
)

// A template is the header that was parsed last, if it has no prefix. A header that differs from it only in name, size,
// time and checksum has only these parsed: the rest is known to be valid.
type template struct {
	block [blockSize]byte
	rest  int64 // sum of the bytes of the rest, and of a blank checksum
	set   bool
}

// parse is parseHeader, faster for a header that is like the one before.
func (t *template) parse(b, buf []byte) (h header, err error) {
	if t.set && bytes.Equal(b[nameEnd:sizeAt], t.block[nameEnd:sizeAt]) && bytes.Equal(b[sumEnd:blockSize], t.block[sumEnd:]) {
		want, bad := number(b[sumAt:sumEnd])
		size, worse := number(b[sizeAt:timeAt])
		if bad == nil && worse == nil && anyNumber(b[timeAt:sumAt]) == nil && want == t.rest+byteSum(b[:nameEnd])+byteSum(b[sizeAt:sumAt]) {
			name := cstring(b[:nameEnd])
			return header{typ: b[sumEnd], size: size, name: append(buf, name...), dir: bytes.HasSuffix(name, []byte("/"))}, nil
		}
	}
	h, err = parseHeader(b, buf)
	if t.set = err == nil && b[prefixAt] == 0; t.set {
		t.block = [blockSize]byte(b)
		t.rest = byteSum(b[nameEnd:sizeAt]) + (sumEnd-sumAt)*' ' + byteSum(b[sumEnd:blockSize])
	}
	return h, err
}

// parseHeader parses one header block that is not all zeros. It accepts headers for which GNU tar and
// Python's tarfile agree. It appends the name to buf.
func parseHeader(b, buf []byte) (header, error) {
	h := header{typ: b[sumEnd]}
	if err := checkSum(b); err != nil {
		return h, err
	}
	name, prefix := cstring(b[:nameEnd]), cstring(b[prefixAt:500])
	h.dir = len(name) > 0 && name[len(name)-1] == '/'
	metadata := h.typ == typeLongName || h.typ == typeLongLink || h.typ == typePAX || h.typ == typePAXGlobal
	if len(prefix) > 0 && !metadata {
		// Python joins every prefix. GNU tar joins only the prefix of a POSIX header; its own headers have times of the
		// file there.
		if string(b[257:263]) != "ustar\x00" {
			h.name = append(buf, name...)
			return h, fmt.Errorf("%w: a name prefix in a header that is not ustar's", converters.ErrUnsupported)
		}
		buf = append(append(buf, prefix...), '/')
	}
	h.name = append(buf, name...)

	var err error
	if h.size, err = number(b[sizeAt:timeAt]); err != nil {
		return h, fmt.Errorf("%w: size: %w", converters.ErrMalformed, err)
	}
	// The other fields are not used, but tarfile stops at a header with an invalid one.
	for _, f := range &others {
		if err := anyNumber(b[f.from:f.to]); err != nil {
			return h, fmt.Errorf("%w: %s: %w", converters.ErrMalformed, f.name, err)
		}
	}
	return h, nil
}

var others = [...]struct {
	name     string
	from, to int
}{
	{"mode", nameEnd, 108}, {"user", 108, 116}, {"group", 116, sizeAt}, {"time", timeAt, sumAt},
	{"device major", 329, 337}, {"device minor", 337, 345},
}

// checkSum compares the header's checksum with the sum of its bytes, unsigned or, for some old writers,
// signed.
func checkSum(b []byte) error {
	want, err := number(b[sumAt:sumEnd])
	if err != nil {
		return fmt.Errorf("%w: header checksum: %w", converters.ErrMalformed, err)
	}
	got := byteSum(b[:sumAt]) + (sumEnd-sumAt)*' ' + byteSum(b[sumEnd:blockSize])
	if got == want {
		return nil
	}
	for i, c := range b[:blockSize] {
		if c >= 0x80 && (i < sumAt || i >= sumEnd) {
			got -= 256
		}
	}
	if got == want {
		return nil
	}
	return fmt.Errorf("%w: the header checksum is wrong", converters.ErrMalformed)
}

// byteSum returns the sum of at most blockSize bytes. Most of a header is zeros.
func byteSum(b []byte) int64 {
	// Sixteen-bit lanes, the even bytes and the odd ones: 64 · 2 · 255 fits.
	const even = 0x00ff00ff00ff00ff
	var lanes uint64
	for ; len(b) >= 32; b = b[32:] {
		x, y := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		z, v := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
		if x|y|z|v != 0 {
			lanes += x&even + x>>8&even + (y&even + y>>8&even) + (z&even + z>>8&even) + (v&even + v>>8&even)
		}
	}
	for ; len(b) >= 4; b = b[4:] {
		x := uint64(binary.LittleEndian.Uint32(b))
		lanes += x&even + x>>8&even
	}
	return int64(lanes&0xffff + lanes>>16&0xffff + lanes>>32&0xffff + lanes>>48)
}

var (
	errNumber   = errors.New("not a number in octal")
	errBlank    = errors.New("blank")
	errNegative = errors.New("negative")
	errRange    = errors.New("over 8 EiB")
)

// number parses a numeric field: spaces, octal digits, then spaces and NULs; or, after a byte 0x80, a big-endian
// number.
func number(f []byte) (int64, error) {
	if n, ok := octal11(f); ok {
		return n, nil
	}
	switch f[0] {
	case 0x80:
		var n uint64
		for _, c := range f[1:] {
			if n > math.MaxInt64>>8 {
				return 0, errRange
			}
			n = n<<8 | uint64(c)
		}
		return int64(n), nil
	case 0xff, '-':
		return 0, errNegative
	}
	i := 0
	for i < len(f) && f[i] == ' ' {
		i++
	}
	if i == len(f) {
		return 0, errBlank
	}
	var n int64 // twelve digits are 36 bits
	for ; i < len(f) && f[i]-'0' < 8; i++ {
		n = n<<3 | int64(f[i]-'0')
	}
	for ; i < len(f); i++ {
		if f[i] != ' ' && f[i] != 0 {
			return 0, errNumber
		}
	}
	return n, nil
}

// anyNumber checks a numeric field that is not used. It may be blank, or a negative binary number, such as a time
// before 1970.
func anyNumber(f []byte) error {
	if f[0] == 0x80 || f[0] == 0xff || isOctal7(f) {
		return nil
	}
	if _, err := number(f); err != nil && err != errBlank {
		return err
	}
	return nil
}

// isOctal7 reports whether f is seven octal digits and a NUL or space, as most fields of eight bytes are.
// All octal digits have the same five high bits.
func isOctal7(f []byte) bool {
	const digits, begin = 0x0030303030303030, 0x00f8f8f8f8f8f8f8
	if len(f) != 8 || f[7]&^' ' != 0 {
		return false
	}
	return binary.LittleEndian.Uint64(f)&begin == digits
}

// octal11 returns the number of eleven octal digits and a NUL or space, as most fields of twelve bytes are.
func octal11(f []byte) (n int64, ok bool) {
	const digits, begin = 0x3030303030303030, 0xf8f8f8f8f8f8f8f8
	if len(f) != 12 || f[11]&^' ' != 0 {
		return 0, false
	}
	first, rest := binary.BigEndian.Uint32(f), binary.BigEndian.Uint64(f[3:])
	if uint64(first)&(begin>>32) != digits>>32 || rest&begin != digits {
		return 0, false
	}
	rest = rest&0x0007000700070007 | rest>>5&0x0038003800380038 // two digits in each lane
	rest = rest&0x0000003f0000003f | rest>>10&0x00000fc000000fc0
	rest = rest&0xfff | rest>>20&0xfff000
	return int64(first>>24&7)<<30 | int64(first>>16&7)<<27 | int64(first>>8&7)<<24 | int64(rest), true
}

// cstring returns the bytes before the first NUL.
func cstring(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}

// padded rounds a payload size up to whole blocks.
func padded(n int64) int64 { return (n + blockSize - 1) &^ (blockSize - 1) }
