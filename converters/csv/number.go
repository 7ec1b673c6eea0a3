package csv

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// A kind is the type of a column.
type kind uint8

// The kinds, narrowest first.
const (
	unknown kind = iota
	int64s
	float32s
	float64s
	bools
	texts
)

var kindNames = [...]string{int64s: "int64", float32s: "float32", float64s: "float64", bools: "bool", texts: "str"}

func (k kind) String() string { return kindNames[k] }

func (k kind) isNumber() bool { return k >= int64s && k <= float64s }

// width returns the size of a number, bytes.
func (k kind) width() int {
	if k == float32s {
		return 4
	}
	return 8
}

// trim removes blanks, as C's isspace has them, from both ends of a value.
func trim(s []byte) []byte {
	for len(s) > 0 && isBlank(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isBlank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// number parses a value as a number of a kind and returns its bits. ok is false if it is not a number or too large for
// the kind. For such a number strtod returns infinity with ERANGE; here only inf is infinity.
func (p *powers) number(value []byte, k kind) (bits uint64, ok bool) {
	s := trim(value)
	if k == int64s {
		return integer(s)
	}
	var padded [40 + pad]byte
	if n := copy(padded[:len(padded)-pad], s); n == len(s) {
		if bits, end := p.decimal(padded[:], 0); end == n && n > 0 {
			if k == float64s {
				return bits, true
			}
			if short, exact := narrow(bits); exact {
				return uint64(short), true
			}
		}
	}
	f, err := parseFloat(s, 8*k.width())
	if k == float32s {
		return uint64(math.Float32bits(float32(f))), err == nil
	}
	return math.Float64bits(f), err == nil
}

// narrow returns the float32 nearest to the decimal number from which the float64 with these bits was
// parsed. It returns false if the float64 does not determine that: it is halfway between two float32,
// the float32 would be subnormal, or it may be too large.
func narrow(bits uint64) (uint32, bool) {
	f := math.Float64frombits(bits)
	size := math.Abs(f)
	if bits&(1<<29-1) == 1<<28 || f != 0 && size < 0x1p-126 || size >= 0x1.ffffffp127 && size <= math.MaxFloat64 {
		return 0, false
	}
	return math.Float32bits(float32(f)), true
}

// integer parses decimal digits with or without a sign.
func integer(s []byte) (bits uint64, ok bool) {
	if !isInteger(s) {
		return 0, false
	}
	n, err := strconv.ParseInt(string(s), 10, 64)
	return uint64(n), err == nil
}

// isInteger reports whether s is decimal digits, any number of them, with or without a sign.
func isInteger(s []byte) bool {
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	for _, c := range s {
		if c-'0' > 9 {
			return false
		}
	}
	return len(s) > 0
}

// isNumber reports whether a value without blanks around it is a number, of any size.
func isNumber(s []byte) bool {
	_, err := parseFloat(s, 64)
	return !errors.Is(err, strconv.ErrSyntax)
}

// parseFloat is [strconv.ParseFloat] for the syntax of C's strtod: it refuses underscores, and accepts hexadecimal
// without an exponent, nan(…) and a nan with a sign.
func parseFloat(s []byte, size int) (float64, error) {
	unsigned := s
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		unsigned = s[1:]
	}
	if isNaN(unsigned) {
		bits := uint64(0x7FF8 << 48)
		if s[0] == '-' {
			bits |= 1 << 63
		}
		return math.Float64frombits(bits), nil
	}
	text := string(s)
	switch {
	case strings.Contains(text, "_"):
		return 0, strconv.ErrSyntax
	case len(unsigned) > 1 && isFold(unsigned[:2], "0x") && !strings.ContainsAny(text, "pP"):
		text += "p0"
	}
	return strconv.ParseFloat(text, size)
}

// isNaN reports whether s is nan, or nan(…) with letters, digits and underscores in the parentheses.
func isNaN(s []byte) bool {
	if len(s) <= 3 || !isFold(s[:3], "nan") {
		return isFold(s, "nan")
	}
	return s[3] == '(' && s[len(s)-1] == ')' && isWord(s[4:len(s)-1])
}

// isFold reports whether s is word in any case. word must be in lower case.
func isFold(s []byte, word string) bool {
	if len(s) != len(word) {
		return false
	}
	for i, c := range s {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// isWord reports whether s consists of the characters allowed in nan(…).
func isWord(s []byte) bool {
	for _, c := range s {
		if c-'0' > 9 && c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}
