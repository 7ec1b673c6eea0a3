// Package terminal formats text for a terminal: escaped, coloured, numbers with their nouns.
package terminal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
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

// WriteJSON writes v as indented JSON through [EscapeJSON].
func WriteJSON(w io.Writer, v any) error {
	enc := NewJSONEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// EscapeJSON escapes the control characters that encoding/json leaves in strings: DEL and U+0080 to
// U+009F, of which some terminals take U+009B for the start of an escape sequence. It returns doc if there are none.
func EscapeJSON(doc []byte) []byte {
	if !slices.ContainsFunc(doc, func(c byte) bool { return c >= 0x7f }) {
		return doc
	}
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

// ErrorLines returns the lines of an error: one for each of the errors that were joined, equal ones once, with control
// characters and newlines escaped.
func ErrorLines(err error) []string {
	if inner := errors.Unwrap(err); inner != nil && inner.Error() == err.Error() {
		return ErrorLines(inner)
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var lines, texts []string
		for _, e := range joined.Unwrap() {
			texts = append(texts, e.Error())
			for _, line := range ErrorLines(e) {
				if !slices.Contains(lines, line) {
					lines = append(lines, line)
				}
			}
		}
		if strings.Join(texts, "\n") == err.Error() {
			return lines
		}
	}
	return []string{text.Line(ErrorText(err))}
}

// Counted formats a number with its noun: "1 shard", "1,024 shards".
func Counted(n int64, noun string) string {
	return humanize.Comma(n) + " " + text.Plural(n, noun)
}

// CountedOf returns "9 samples" for all of 9, else "3 of 9 samples".
func CountedOf(n, of int64, noun string) string {
	if n == of {
		return Counted(of, noun)
	}
	return humanize.Comma(n) + " of " + Counted(of, noun)
}

// Moment formats a time in the local zone, to the minute.
func Moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

func RateText(bytes float64) string {
	if bytes < 0 {
		return "? B/s"
	}
	return humanize.Bytes(uint64(bytes)) + "/s"
}

// Plain returns an error with the text of err on one line, with control characters escaped.
func Plain(err error) error {
	if err == nil {
		return nil
	}
	return WithText(err, text.Line(ErrorText(err)))
}

// WithText returns an error that wraps err and has another text.
func WithText(err error, text string) error { return &reworded{err, text} }

type reworded struct {
	error
	text string
}

func (e *reworded) Error() string { return e.text }
func (e *reworded) Unwrap() error { return e.error }
