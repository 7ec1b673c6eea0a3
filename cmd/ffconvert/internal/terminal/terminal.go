// Package terminal makes text that may be printed: escaped, coloured, and numbers as people read
// them.
package terminal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/internal/text"
)

// NewJSONEncoder returns an encoder that writes to w through [EscapeJSON].
func NewJSONEncoder(w io.Writer) *json.Encoder { return json.NewEncoder(jsonWriter{w}) }

type jsonWriter struct{ w io.Writer }

func (j jsonWriter) Write(p []byte) (int, error) {
	if _, err := j.w.Write(EscapeJSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// EscapeJSON escapes the control characters that encoding/json leaves in strings: DEL and U+0080 to
// U+009F, of which some terminals take U+009B for the start of an escape sequence.
func EscapeJSON(doc []byte) []byte {
	var b []byte
	for len(doc) > 0 {
		r, n := utf8.DecodeRune(doc)
		if r >= 0x7f && r <= 0x9f {
			b = fmt.Appendf(b, `\u%04x`, r)
		} else {
			b = append(b, doc[:n]...)
		}
		doc = doc[n:]
	}
	return b
}

// ErrorLines is an error, or each of several that were joined, on a line of its own. What
// an error quotes cannot begin another line.
func ErrorLines(err error) []string {
	if inner := errors.Unwrap(err); inner != nil && inner.Error() == err.Error() {
		return ErrorLines(inner)
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var lines, texts []string
		for _, e := range joined.Unwrap() {
			lines, texts = append(lines, ErrorLines(e)...), append(texts, e.Error())
		}
		if strings.Join(texts, "\n") == err.Error() {
			return lines
		}
	}
	return []string{text.Line(err.Error())}
}

// Counted is a number with its noun.
func Counted(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return humanize.Comma(n) + " " + noun
}

// ShellWord quotes a word of a command line where it needs that.
func ShellWord(s string) string {
	switch {
	case text.Line(s) != s:
		return strconv.Quote(s)
	case s == "" || strings.ContainsAny(s, " '\"\\$`;|&()<>{}[]*?!#~\n"):
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

func ShellWords(words []string) []string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = ShellWord(w)
	}
	return quoted
}

// Moment is a time as people read it, in their zone.
func Moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

func RateText(bytes float64) string {
	if bytes < 0 {
		return "? B/s"
	}
	return humanize.Bytes(uint64(bytes)) + "/s"
}

// Plain is an error whose words may be sent to a terminal: one line, whatever names it has.
func Plain(err error) error {
	if err == nil {
		return nil
	}
	return plainError{err}
}

type plainError struct{ error }

func (e plainError) Error() string { return text.Line(e.error.Error()) }

func (e plainError) Unwrap() error { return e.error }
