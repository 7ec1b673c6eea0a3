// Package text escapes texts of unknown origin, so that they can be printed: a name cannot begin a new
// line, control a terminal, or look like a part of the message around it.
package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Name returns a name, quoted as a Go string if it is empty or has characters that a Go string escapes.
func Name(name string) string {
	q := strconv.Quote(name)
	if name == "" || q[1:len(q)-1] != name {
		return q
	}
	return name
}

// Line escapes characters that are not printable, including line breaks, and bytes that are not UTF-8,
// as in a Go string.
func Line(s string) string { return escape(s, strconv.IsPrint) }

// Lines is Line for text of several lines, in any script: it keeps line breaks, tabs, spaces of all widths, and the joiners of Persian and of
// emoji. It escapes other characters that are not seen, like those that change the direction of writing.
func Lines(s string) string {
	return escape(strings.ReplaceAll(s, "\r\n", "\n"), func(r rune) bool {
		return unicode.IsGraphic(r) || r == '\n' || r == '\t' || r == 0x200C || r == 0x200D
	})
}

// Valid escapes bytes that are not UTF-8.
func Valid(s string) string { return escape(s, func(rune) bool { return true }) }

// Spaces replaces characters that are not printable by spaces, for messages of a service.
func Spaces(s string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}

// escape escapes the characters that keep refuses, and bytes that are not UTF-8.
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

// Plural returns the noun for n things: "byte" for 1, else "bytes".
func Plural(n int64, noun string) string {
	stem, y := strings.CutSuffix(noun, "y")
	switch {
	case n == 1:
		return noun
	case y:
		return stem + "ies"
	case strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "ss"):
		return noun + "es"
	}
	return noun + "s"
}

// Count returns a number and its noun: "1 byte", "1024 bytes".
func Count(n int64, noun string) string { return strconv.FormatInt(n, 10) + " " + Plural(n, noun) }
