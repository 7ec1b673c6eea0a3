// Package terminal is what a command and the person, or the program, that started it exchange while it runs: progress on standard
// error, as one line that is drawn again and again, as lines of a log, or as events, a JSON object a line; the error or the closing
// line at the end, which is the done event of a program (done.go); what --dry-run prints; the signals that end a run, with time to
// finish the shards that are being written; and the forms of text: escaped, coloured, numbers with their nouns.
//
//	ctx, stopper := terminal.NewStopper(os.Exit, terminal.Patience)
//	r := terminal.NewReporter(flag, os.Stderr)
//	r.Start("index", 0)
//	r.Add(samples, bytes)
//	r.Say(terminal.TaskDone(dir, report))
//	err = stopper.End(ctx, err)
package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
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

// Counted formats a number with its noun: "1 shard", "1,024 shards".
func Counted(n int64, noun string) string {
	return humanize.Comma(n) + " " + text.Plural(n, noun)
}

// Moment formats a time in the local zone, to the minute.
func Moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// RateText formats bytes a second; a negative number is a rate that is not known.
func RateText(bytes float64) string {
	if bytes < 0 {
		return "? B/s"
	}
	return humanize.Bytes(uint64(bytes)) + "/s"
}
