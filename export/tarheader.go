package export

import (
	"bytes"
	"fmt"
	"strconv"
)

// Sizes of the tar format in bytes.
const (
	blockSize  = 512
	recordSize = 20 * blockSize // the size of a tar is a multiple of it
	trailer    = 2 * blockSize  // least number of zeros at the end
)

// Offsets of the fields of a ustar header.
const (
	nameEnd  = 100
	modeAt   = 100
	uidAt    = 108
	gidAt    = 116
	sizeAt   = 124
	mtimeAt  = 136
	sumAt    = 148
	typeAt   = 156
	magicAt  = 257
	majorAt  = 329
	minorAt  = 337
	prefixAt = 345

	maxOctal = 1<<33 - 1 // the largest size and time in 11 octal digits
)

// Types of members.
const (
	typeFile = '0'
	typePAX  = 'x'
)

var zeros [recordSize]byte

// padding returns how many zeros follow n bytes of a member.
func padding(n int64) int64 { return -n & (blockSize - 1) }

// headerSize returns the size of the headers of a file.
func headerSize(name []byte, size int64) int64 {
	if _, _, ok := splitPath(name); ok && size <= maxOctal {
		return blockSize
	}
	return int64(len(appendHeader(nil, name, size, 0)))
}

// appendHeader appends the headers of a file to b: ustar, preceded by PAX if the name or the size does not
// fit. mtime is in Unix seconds.
func appendHeader(b, name []byte, size, mtime int64) []byte {
	var records []byte
	prefix, base, ok := splitPath(name)
	if !ok {
		records = appendPAX(records, "path", string(name))
		prefix, base = nil, plainName(name)
	}
	if size > maxOctal {
		records = appendPAX(records, "size", strconv.FormatInt(size, 10))
	}
	if records != nil {
		paxBase := append([]byte("PaxHeaders.0/"), base[max(0, len(base)-(nameEnd-len("PaxHeaders.0/"))):]...)
		b = ustar{nil, paxBase, int64(len(records)), mtime, typePAX}.append(b)
		b = append(b, records...)
		b = append(b, zeros[:padding(int64(len(records)))]...)
	}
	return ustar{prefix, base, size, mtime, typeFile}.append(b)
}

// splitPath splits a name into the two fields of ustar. ok is false if it does not fit, or is not ASCII.
func splitPath(name []byte) (prefix, base []byte, ok bool) {
	for i := range len(name) {
		if name[i] >= 0x80 || name[i] == 0 {
			return nil, nil, false
		}
	}
	if len(name) <= nameEnd {
		return nil, name, true
	}
	// The prefix has at most 155 bytes, the base at most 100; the slash between them is stored in neither.
	head := name[:min(len(name), 156)]
	slash := bytes.LastIndexByte(head, '/')
	if slash <= 0 || len(name)-slash-1 > nameEnd || slash == len(name)-1 {
		return nil, nil, false
	}
	return name[:slash], name[slash+1:], true
}

// plainName returns the end of a name for readers that do not know PAX, with _ for bytes that are not ASCII.
func plainName(name []byte) []byte {
	plain := bytes.Clone(name)
	for i, c := range plain {
		if c >= 0x80 || c == 0 {
			plain[i] = '_'
		}
	}
	return plain[max(0, len(plain)-nameEnd):]
}

// appendPAX appends a record: its length in decimal (including the length field), a space, KEY=VALUE and a newline.
func appendPAX(b []byte, key, value string) []byte {
	const marks = 3 // space, =, newline
	n := len(key) + len(value) + marks
	for digits := 0; digits != len(strconv.Itoa(n)); {
		digits = len(strconv.Itoa(n))
		n = len(key) + len(value) + marks + digits
	}
	return fmt.Appendf(b, "%d %s=%s\n", n, key, value)
}

// blank is a header without name, size, time and type. blankSum is the sum of its bytes.
var blank, blankSum = func() (h [blockSize]byte, sum int64) {
	octal(h[modeAt:uidAt], 0o444)
	octal(h[uidAt:gidAt], 0)
	octal(h[gidAt:sizeAt], 0)
	copy(h[magicAt:], "ustar\x0000")
	octal(h[majorAt:minorAt], 0)
	octal(h[minorAt:prefixAt], 0)
	copy(h[sumAt:typeAt], "        ")
	return h, sumOf(h[:])
}()

func sumOf(s []byte) (sum int64) {
	for _, c := range s {
		sum += int64(c)
	}
	return sum
}

// A ustar is what one header says.
type ustar struct {
	prefix, base []byte
	size, mtime  int64
	kind         byte
}

func (u ustar) append(b []byte) []byte {
	at := len(b)
	b = append(b, blank[:]...)
	h := b[at:]
	copy(h[:nameEnd], u.base)
	copy(h[prefixAt:], u.prefix)
	if u.size > maxOctal {
		u.size = 0 // the PAX header has it
	}
	octal(h[sizeAt:mtimeAt], u.size)
	octal(h[mtimeAt:sumAt], u.mtime)
	h[typeAt] = u.kind
	sum := blankSum + sumOf(u.base) + sumOf(u.prefix) + sumOf(h[sizeAt:sumAt]) + int64(u.kind)
	octal(h[sumAt:typeAt-1], sum) // six digits, a NUL and a space
	return b
}

// octal writes a number in octal digits, and a NUL, into a field.
func octal(field []byte, n int64) {
	last := len(field) - 1
	field[last] = 0
	for i := last - 1; i >= 0; i-- {
		field[i] = byte('0' + n&7)
		n >>= 3
	}
}
