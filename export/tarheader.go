package export

import (
	"fmt"
	"strconv"
	"strings"
)

// Sizes of the tar format in bytes.
const (
	blockSize  = 512
	recordSize = 20 * blockSize // a tar's size is a multiple of it
	trailer    = 2 * blockSize  // zeros at its end, at least
)

// Fields of a header in ustar, by their offsets.
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

// appendHeader appends the headers of a file to b: one in ustar, after one in PAX if its name or its size do not
// fit. mtime is in Unix seconds.
func appendHeader(b []byte, name string, size, mtime int64) []byte {
	var records []byte
	prefix, base, ok := splitPath(name)
	if !ok {
		records = appendPAX(records, "path", name)
		prefix, base = "", plainName(name)
	}
	if size > maxOctal {
		records = appendPAX(records, "size", strconv.FormatInt(size, 10))
	}
	if records != nil {
		paxBase := "PaxHeaders.0/" + base[max(0, len(base)-(nameEnd-len("PaxHeaders.0/"))):]
		b = ustar{"", paxBase, int64(len(records)), mtime, typePAX}.append(b)
		b = append(b, records...)
		b = append(b, zeros[:padding(int64(len(records)))]...)
	}
	return ustar{prefix, base, size, mtime, typeFile}.append(b)
}

// splitPath divides a name into the two fields of ustar. ok is false if it does not fit them, or is not ASCII.
func splitPath(name string) (prefix, base string, ok bool) {
	for i := range len(name) {
		if name[i] >= 0x80 || name[i] == 0 {
			return "", "", false
		}
	}
	if len(name) <= nameEnd {
		return "", name, true
	}
	// The prefix has at most 155 bytes, the rest at most 100; the slash between them is in neither.
	head := name[:min(len(name), 156)]
	slash := strings.LastIndexByte(head, '/')
	if slash <= 0 || len(name)-slash-1 > nameEnd || slash == len(name)-1 {
		return "", "", false
	}
	return name[:slash], name[slash+1:], true
}

// plainName returns the end of a name for a reader that does not know PAX: bytes that are not ASCII become _.
func plainName(name string) string {
	plain := []byte(name)
	for i, c := range plain {
		if c >= 0x80 || c == 0 {
			plain[i] = '_'
		}
	}
	return string(plain[max(0, len(plain)-nameEnd):])
}

// appendPAX appends a record: its length in decimal, which counts itself, a space, KEY=VALUE and a newline.
func appendPAX(b []byte, key, value string) []byte {
	const marks = 3 // space, =, newline
	n := len(key) + len(value) + marks
	for digits := 0; digits != len(strconv.Itoa(n)); {
		digits = len(strconv.Itoa(n))
		n = len(key) + len(value) + marks + digits
	}
	return fmt.Appendf(b, "%d %s=%s\n", n, key, value)
}

// blank is a header without a name, a size, a time and a type, and blankSum the sum of its bytes.
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

func sumOf[T string | []byte](s T) (sum int64) {
	for i := range len(s) {
		sum += int64(s[i])
	}
	return sum
}

// A ustar is what one header says.
type ustar struct {
	prefix, base string
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

// octal fills a field with a number in octal digits and a NUL.
func octal(field []byte, n int64) {
	last := len(field) - 1
	field[last] = 0
	for i := last - 1; i >= 0; i-- {
		field[i] = byte('0' + n&7)
		n >>= 3
	}
}
