package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/internal/text"
)

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
	return []string{text.Line(err.Error())}
}
