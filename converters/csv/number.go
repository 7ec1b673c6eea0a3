package csv

import (
	"math"
	"strconv"
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

// isNumber reports whether the kind is a type of numbers.
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

// number parses a value as a number of a kind and returns its bits. ok is false if it is not a number
// or too large for the kind. strtod returns infinity with ERANGE then; here only inf is infinity.
func (p *powers) number(value []byte, k kind) (bits uint64, ok bool) {
	s := trim(value)
	if k == int64s {
		return integer(s)
	}
	bits, ok = p.float(s)
	switch {
	case !ok:
		return 0, false
	case math.IsInf(math.Float64frombits(bits), 0) && formOf(s) != infinite:
		return 0, false
	case k == float64s:
		return bits, true
	}
	if short, exact := narrow(bits); exact {
		return uint64(short), true
	}
	f, err := strconv.ParseFloat(goNumber(s, formOf(s)), 32) // its only error is of range
	return uint64(math.Float32bits(float32(f))), err == nil
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

// float parses s as strtod does. ok is false unless strtod accepts all of s.
func (p *powers) float(s []byte) (bits uint64, ok bool) {
	var padded [40 + pad]byte
	if n := copy(padded[:len(padded)-pad], s); n == len(s) {
		if bits, end := p.decimal(padded[:], 0); end == n && n > 0 {
			return bits, true
		}
	}
	form := formOf(s)
	switch form {
	case noNumber:
		return 0, false
	case notANumber:
		bits = 0x7FF8 << 48
		if s[0] == '-' {
			bits |= 1 << 63
		}
		return bits, true
	}
	f, _ := strconv.ParseFloat(goNumber(s, form), 64) // its only error is of range, with the value
	return math.Float64bits(f), true
}

// goNumber returns a number in the syntax of strconv.
func goNumber(s []byte, f form) string {
	if f == shortHex {
		return string(s) + "p0"
	}
	return string(s)
}

// A form is the syntax of a number.
type form uint8

const (
	noNumber   form = iota
	plain           // decimal
	longHex         // 0x1.8p3
	shortHex        // 0x1.8
	infinite        // inf, infinity
	notANumber      // nan, nan(…)
)

// formOf returns the form of a value without blanks around it.
func formOf(s []byte) form {
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	switch {
	case len(s) == 0:
		return noNumber
	case s[0]|0x20 == 'i':
		if isFold(s, "inf") || isFold(s, "infinity") {
			return infinite
		}
		return noNumber
	case s[0]|0x20 == 'n':
		if isFold(s, "nan") || len(s) > 4 && isFold(s[:4], "nan(") && isWord(s[4:len(s)-1]) && s[len(s)-1] == ')' {
			return notANumber
		}
		return noNumber
	case len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x':
		rest, ok := mantissa(s[2:], isHexDigit)
		switch {
		case !ok:
			return noNumber
		case len(rest) == 0:
			return shortHex
		case isExponent(rest, 'p'):
			return longHex
		}
		return noNumber
	}
	rest, ok := mantissa(s, isDigit)
	if !ok || len(rest) > 0 && !isExponent(rest, 'e') {
		return noNumber
	}
	return plain
}

// mantissa removes digits, with or without a point among them, from the start of s.
func mantissa(s []byte, is func(byte) bool) (rest []byte, ok bool) {
	point := false
	for i, c := range s {
		switch {
		case is(c):
			ok = true
		case c == '.' && !point:
			point = true
		default:
			return s[i:], ok
		}
	}
	return nil, ok
}

func isExponent(s []byte, letter byte) bool { return s[0]|0x20 == letter && isInteger(s[1:]) }

func isDigit(c byte) bool { return c-'0' <= 9 }

func isHexDigit(c byte) bool { return c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'f' }

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

// isWord reports whether s may be between the parentheses of nan(…).
func isWord(s []byte) bool {
	for _, c := range s {
		if !isDigit(c) && c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}
