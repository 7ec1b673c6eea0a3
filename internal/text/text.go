// Package text makes texts of unknown origin safe to print: a name cannot begin another line, drive
// a terminal, or pass for a part of the sentence around it.
package text

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Name returns an ordinary name as it is, and quotes every other one as Go does.
func Name(name string) string {
	q := strconv.Quote(name)
	if name == "" || q[1:len(q)-1] != name {
		return q
	}
	return name
}

// Line escapes what is not printable, line breaks too, and bytes that are not UTF-8, as Go writes
// them in a string.
func Line(s string) string { return escape(s, strconv.IsPrint) }

// Valid escapes the bytes that are not UTF-8.
func Valid(s string) string { return escape(s, func(rune) bool { return true }) }

// Spaces puts a space in the place of what is not printable: in a sentence that a service sends.
func Spaces(s string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}

func escape(s string, keep func(rune) bool) string {
	var b []byte // nil until something is escaped
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1, !keep(r):
			if b == nil {
				b = append(make([]byte, 0, len(s)+8), s[:i]...)
			}
			quoted := strconv.Quote(s[i : i+n])
			b = append(b, quoted[1:len(quoted)-1]...)
		case b != nil:
			b = append(b, s[i:i+n]...)
		}
		i += n
	}
	if b == nil {
		return s
	}
	return string(b)
}
