package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Names of files, members, keys and columns are chosen by whoever made a dataset. None of
// them may move the cursor, retitle the window or forge a line.

// printable is a name as it may be sent to a terminal: quoted where it is not plain.
func printable(name string) string {
	if plainText(name) == name {
		return name
	}
	return strconv.Quote(name)
}

// plainText is a text as it may be sent to a terminal: what is not printable is escaped,
// line ends too.
func plainText(s string) string {
	var b strings.Builder
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		}
		s = s[n:]
	}
	return b.String()
}

// newJSONEncoder returns an encoder whose documents may be sent to a terminal.
func newJSONEncoder(w io.Writer) *json.Encoder { return json.NewEncoder(jsonWriter{w}) }

// A jsonWriter escapes the control characters that JSON allows in its strings, and
// encoding/json leaves there: DEL and U+0080 to U+009F, of which some terminals take
// U+009B for an escape sequence. It is given whole characters.
type jsonWriter struct{ w io.Writer }

func (j jsonWriter) Write(p []byte) (int, error) {
	var b []byte
	for rest := p; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r >= 0x7f && r <= 0x9f {
			b = fmt.Appendf(b, `\u%04x`, r)
		} else {
			b = append(b, rest[:n]...)
		}
		rest = rest[n:]
	}
	if bytes.Equal(b, p) {
		b = p
	}
	if _, err := j.w.Write(b); err != nil {
		return 0, err
	}
	return len(p), nil
}

// errorLines is an error, or each of several that were joined, on a line of its own. What
// an error quotes cannot begin another line.
func errorLines(err error) []string {
	if inner := errors.Unwrap(err); inner != nil && inner.Error() == err.Error() {
		return errorLines(inner)
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var lines, texts []string
		for _, e := range joined.Unwrap() {
			lines, texts = append(lines, errorLines(e)...), append(texts, e.Error())
		}
		if strings.Join(texts, "\n") == err.Error() {
			return lines
		}
	}
	return []string{plainText(err.Error())}
}
