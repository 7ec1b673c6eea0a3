package text

import (
	"fmt"
	"strings"
)

// ShellWord quotes a word of a command line if a shell would not take it literally. A word with characters that are not
// printable is quoted as bash, zsh and POSIX 2024 have it: $'…'.
func ShellWord(s string) string {
	switch {
	case Line(s) != s:
		return "$'" + escapeWord(s) + "'"
	case s == "" || strings.ContainsAny(s, " '\"\\$`;|&()<>{}[]*?!#~"):
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// escapeWord escapes what stands in $'…': what [Line] escapes as the octal numbers of its bytes.
func escapeWord(s string) string {
	var b strings.Builder
	for _, part := range strings.SplitAfter(s, "") { // characters, or bytes that are not UTF-8
		switch {
		case part == "'" || part == `\`:
			b.WriteString(`\` + part)
		case Line(part) != part:
			for _, c := range []byte(part) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		default:
			b.WriteString(part)
		}
	}
	return b.String()
}

// ShellWords quotes each word as [ShellWord] does.
func ShellWords(words []string) []string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = ShellWord(w)
	}
	return quoted
}
