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

// document is the JSON of a report. New versions may add members; they do not remove or change any.
type document struct {
	Sound    bool           `json:"sound"` // no findings of level error
	Tool     string         `json:"tool"`
	Version  string         `json:"version"`
	Seconds  float64        `json:"seconds,omitempty"`
	Facts    map[string]any `json:"facts,omitempty"`
	Counts   counts         `json:"counts"`               // including findings that are not listed
	More     int64          `json:"not_listed,omitempty"` // findings that are counted but not listed
	Files    []file         `json:"files"`
	Findings []finding      `json:"findings"`
}

type counts struct {
	Error   int64 `json:"error"`
	Warning int64 `json:"warning"`
	Note    int64 `json:"note"`
}

type file struct {
	Name    string `json:"name"`
	Samples int64  `json:"samples"`
	Bytes   int64  `json:"bytes"`
}

type finding struct {
	Level  Level  `json:"level"`
	Rule   string `json:"rule"`
	File   string `json:"file"`
	Offset int64  `json:"offset"` // -1 means none
	Entry  string `json:"entry,omitempty"`
	Text   string `json:"text"`
	Hint   string `json:"hint,omitempty"`
	Count  int64  `json:"count"`
}

func writeJSON(w io.Writer, r *Report) error {
	doc := document{
		Sound:    r.Count(Error) == 0,
		Tool:     r.Tool,
		Version:  r.Version,
		Seconds:  r.Seconds,
		Facts:    make(map[string]any, len(r.Facts)),
		Counts:   counts{r.Count(Error), r.Count(Warning), r.Count(Note)},
		More:     r.More,
		Files:    make([]file, 0, len(r.Files)),
		Findings: make([]finding, 0, len(r.Found)),
	}
	for _, f := range r.Facts {
		doc.Facts[f.Name] = f.value()
	}
	for _, f := range r.Files {
		doc.Files = append(doc.Files, file{text.Valid(f.Name), f.Samples, f.Bytes})
	}
	for _, f := range r.Found {
		doc.Findings = append(doc.Findings, finding{
			Level:  r.level(f.Rule),
			Rule:   f.Rule,
			File:   text.Valid(f.Place.File),
			Offset: f.Place.Offset,
			Entry:  text.Valid(f.Place.Entry),
			Text:   text.Valid(f.Text),
			Hint:   text.Valid(f.Hint),
			Count:  max(1, f.Count),
		})
	}
	enc := json.NewEncoder(terminalSafe{w})
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// A terminalSafe writer escapes every character of a JSON document that is not printable; JSON
// itself requires it of the first 32 only. A Write must not end within a character.
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
