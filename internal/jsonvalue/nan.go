package jsonvalue

import (
	"bytes"
	"math"
	"slices"
)

// A beyond is a number that JSON does not have, and how many bytes of the text are before it.
type beyond struct {
	at int64
	x  float64
}

// nans are the numbers that Python's json writes and reads beyond JSON, each with one of the same length that JSON has.
var nans = [...]struct {
	name, number string
	x            float64
}{
	{"NaN", "0e0", math.NaN()},
	{"Infinity", "0.000000", math.Inf(1)},
	{"-Infinity", "-0.000000", math.Inf(-1)},
}

// withoutNaN returns text, or a copy of it with other numbers in place of those that JSON does not have, which it appends to found. It finds
// them by the delimiters around a value; other errors of the text are left to its reader.
func withoutNaN(text []byte, found []beyond) ([]byte, []beyond) {
	if !bytes.Contains(text, []byte("NaN")) && !bytes.Contains(text, []byte("Infinity")) {
		return text, found
	}
	out, quoted := text, false
	for at := 0; at < len(text); at++ {
		switch c := text[at]; {
		case quoted && c == '\\':
			at++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == 'N' || c == 'I' || c == '-'):
			for _, n := range nans {
				if end := at + len(n.name); bytes.HasPrefix(text[at:], []byte(n.name)) && endsToken(text[:at], "[,:") && beginsToken(text[end:]) {
					if len(found) == 0 {
						out = slices.Clone(text)
					}
					copy(out[at:], n.number)
					found = append(found, beyond{int64(at), n.x})
					at = end - 1
					break
				}
			}
		}
	}
	return out, found
}

// endsToken reports whether text is empty or ends with a blank or one of the other bytes.
func endsToken(text []byte, other string) bool {
	return len(text) == 0 || bytes.IndexByte([]byte(" \t\r\n"+other), text[len(text)-1]) >= 0
}

// beginsToken reports whether text is empty or begins with a blank or what follows a value.
func beginsToken(text []byte) bool { return len(text) == 0 || endsToken(text[:1], ",]}") }
