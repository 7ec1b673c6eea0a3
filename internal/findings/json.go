package findings

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/internal/text"
)

// A document is the JSON of a report. New versions may add members; they do not remove or change any.
type document struct {
	Sound   bool           `json:"sound"` // no findings of level error
	Tool    string         `json:"tool"`
	Version string         `json:"version"`
	Seconds float64        `json:"seconds,omitempty"`
	Facts   map[string]any `json:"facts,omitempty"`
	Counts  struct {       // including findings that are not listed
		Error   int64 `json:"error"`
		Warning int64 `json:"warning"`
		Note    int64 `json:"note"`
	} `json:"counts"`
	More     int64     `json:"not_listed,omitempty"` // findings that are counted but not listed
	Files    []File    `json:"files"`
	Findings []leveled `json:"findings"`
}

// A leveled finding includes the level of its rule.
type leveled struct {
	Level Level `json:"level"`
	Finding
}

func writeJSON(w io.Writer, r *Report) error {
	doc := document{
		Sound:    r.Count(Error) == 0,
		Tool:     r.Tool,
		Version:  r.Version,
		Seconds:  r.Seconds,
		Facts:    make(map[string]any, len(r.Facts)),
		More:     r.More,
		Files:    make([]File, 0, len(r.Files)),
		Findings: make([]leveled, 0, len(r.Found)),
	}
	doc.Counts.Error, doc.Counts.Warning, doc.Counts.Note = r.Count(Error), r.Count(Warning), r.Count(Note)
	for _, f := range r.Facts {
		doc.Facts[f.Name] = f.value()
	}
	for _, f := range r.Files {
		f.Name = text.Valid(f.Name)
		doc.Files = append(doc.Files, f)
	}
	for _, f := range r.Found {
		level := r.rule(&f).Level
		for _, s := range []*string{&f.File, &f.Entry, &f.Text, &f.Hint} {
			*s = text.Valid(*s)
		}
		f.Count = max(1, f.Count)
		doc.Findings = append(doc.Findings, leveled{level, f})
	}
	enc := json.NewEncoder(terminalSafe{w})
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// A terminalSafe writer escapes every character of a JSON document that is not printable; JSON itself requires this
// only for the first 32 characters. A Write must not end within a character.
type terminalSafe struct{ w io.Writer }

func (t terminalSafe) Write(p []byte) (int, error) {
	safe := make([]byte, 0, len(p))
	for rest := p; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == '\n' || strconv.IsPrint(r):
			safe = append(safe, rest[:n]...)
		case r < 0x10000:
			safe = fmt.Appendf(safe, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			safe = fmt.Appendf(safe, `\u%04x\u%04x`, high, low)
		}
		rest = rest[n:]
	}
	if _, err := t.w.Write(safe); err != nil {
		return 0, err
	}
	return len(p), nil
}
