package view

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/internal/text"
)

// isText reports whether b is UTF-8 without control characters other than those of text. With more, the last character
// may be incomplete.
func isText(b []byte, more bool) bool {
	if more {
		b, _ = prefix(b, len(b)-1)
	}
	if len(b) == 0 || !utf8.Valid(b) {
		return false
	}
	return bytes.IndexFunc(b, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\v\f\r\b\x1b", r) || r == 0x7f }) < 0
}

// text shows text, or indented JSON.
func (v *viewer) text(f *Field, data []byte) {
	f.Kind = kindText
	most := min(v.limits.Text, v.bytes)
	shown, cut := prefix(data, most)
	f.Cut = cut
	if isJSON(f.Name, data, most) {
		f.Kind, f.Type = kindJSON, "JSON"
		shown, cut = indent(shown, most)
		f.Cut = f.Cut || cut
	}
	f.Text = text.Lines(string(shown))
	if len(f.Text) > 2*most { // an escape takes up to ten times the bytes of its character
		begin, _ := prefix([]byte(f.Text[:2*most]), 2*most-1)
		f.Text, f.Cut = string(begin), true
	}
	v.bytes -= min(v.bytes, len(f.Text))
}

// isJSON reports whether text is an object or a list of JSON. Only the start of a long text is read, so its name must
// also end in json.
func isJSON(name string, data []byte, most int) bool {
	begin := bytes.TrimLeft(data[:min(len(data), 64)], " \t\r\n")
	if len(begin) == 0 || begin[0] != '{' && begin[0] != '[' {
		return false
	}
	if len(data) > most {
		return strings.HasSuffix(strings.ToLower(name), "json")
	}
	return json.Valid(data)
}

// maxIndent limits the indented levels: at level ten thousand each line would begin with ten thousand spaces.
const maxIndent = 16

// indent writes JSON, which may be truncated, with a line for each member, up to most bytes. json.Indent has no limit.
func indent(data []byte, most int) (out []byte, cut bool) {
	out = make([]byte, 0, min(most, 2*len(data))+2*maxIndent)
	level, inText := 0, false
	line := func() {
		out = append(out, '\n')
		for range min(level, maxIndent) {
			out = append(out, ' ', ' ')
		}
	}
	for i := 0; i < len(data); i++ {
		if len(out) > most {
			out, _ = prefix(out, most)
			return out, true
		}
		c := data[i]
		switch {
		case inText:
			out = append(out, c)
			if c == '\\' && i+1 < len(data) {
				i++
				out = append(out, data[i])
			}
			inText = c != '"'
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		case c == '{' || c == '[':
			out = append(out, c)
			rest := bytes.TrimLeft(data[i+1:min(len(data), i+65)], " \t\r\n")
			if len(rest) > 0 && rest[0] == c+2 { // empty: '{' and '}', and '[' and ']', differ by two
				i = i + 1 + bytes.IndexByte(data[i+1:], c+2)
				out = append(out, c+2)
				continue
			}
			level++
			line()
		case c == '}' || c == ']':
			level = max(0, level-1)
			line()
			out = append(out, c)
		case c == ',':
			out = append(out, c)
			line()
		case c == ':':
			out = append(out, ": "...)
		default:
			out = append(out, c)
			inText = c == '"'
		}
	}
	return out, false
}
