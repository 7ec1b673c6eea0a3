package look

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/jsonvalue"
	"github.com/ffconvert/ffconvert/internal/text"
)

// fieldData returns the value of a field as get writes it: bytes and text unchanged, a number in decimal, everything
// else as JSON.
func fieldData(v *converters.Value) ([]byte, error) {
	switch v.Kind() {
	case converters.KindBytes, converters.KindText:
		return v.Data(), nil
	case converters.KindFloat:
		return jsonvalue.AppendFloat(nil, v.Float()), nil
	}
	return jsonvalue.Append(nil, v)
}

// size returns the length of fieldData, -1 if JSON cannot express the value.
func size(v *converters.Value) int64 {
	if v.Kind() <= converters.KindText {
		return v.Len()
	}
	b, err := fieldData(v)
	if err != nil {
		return -1
	}
	return int64(len(b))
}

// kind names the kind of a value.
func kind(v *converters.Value) string {
	return [...]string{
		converters.KindBytes: "bytes", converters.KindText: "text", converters.KindInt: "integer", converters.KindFloat: "float", converters.KindNested: "nested",
	}[v.Kind()]
}

// sampleName returns the key of a sample for people, or its number where it has none.
func sampleName(r *lookup.Row) string {
	if r.Key == "" {
		return "#" + strconv.FormatInt(r.Number, 10)
	}
	return text.Name(r.Key)
}

// writeSampleJSON writes a sample with all its fields as one line of JSON.
func writeSampleJSON(w io.Writer, r *lookup.Row, s *converters.Sample) (err error) {
	b := append(appendSample([]byte{'{'}, r), `,"fields":{`...)
	for i := range s.Fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsonvalue.AppendString(b, s.Fields[i].Name), ':')
		if b, err = jsonvalue.Append(b, &s.Fields[i].Value); err != nil {
			return fmt.Errorf("field %q: %w", s.Fields[i].Name, err)
		}
	}
	_, err = w.Write(terminal.EscapeJSON(append(b, "}}\n"...)))
	return err
}

// appendSample appends the members of a JSON object that identify and locate a sample. It omits what is unknown.
func appendSample(b []byte, r *lookup.Row) []byte {
	b = strconv.AppendInt(append(b, `"number":`...), r.Number, 10)
	if r.Key != "" {
		b = jsonvalue.AppendString(append(b, `,"key":`...), r.Key)
	}
	if r.Labeled {
		b = strconv.AppendInt(append(b, `,"label":`...), r.Label, 10)
	}
	if r.Placed {
		b = strconv.AppendInt(append(b, `,"size":`...), r.At.Size, 10)
		b = fmt.Appendf(b, `,"crc32":"%08x"`, r.At.CRC)
	}
	if r.Shard == "" {
		return b
	}
	b = jsonvalue.AppendString(append(b, `,"shard":`...), filepath.Base(r.Shard))
	return strconv.AppendInt(append(b, `,"offset":`...), r.At.Off, 10)
}

// mostShown is the most bytes of a value that writeSample writes.
const mostShown = 60

// writeSample writes a sample for people: a line for each of its fields, with the beginning of its value.
func writeSample(w io.Writer, r *lookup.Row, s *converters.Sample) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "sample\t#%d", r.Number)
	if r.Key != "" {
		fmt.Fprintf(t, "  %s", text.Name(r.Key))
	}
	fmt.Fprintf(t, "\nrecord\t%s of %s from byte %d on, CRC-32 %08x\n", terminal.Counted(r.At.Size, "byte"), text.Name(filepath.Base(r.Shard)), r.At.Off, r.At.CRC)
	if r.Labeled {
		fmt.Fprintf(t, "label\t%d\n", r.Label)
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		size := ""
		if f.Value.Kind() <= converters.KindText {
			size = terminal.Counted(f.Value.Len(), "byte")
		}
		fmt.Fprintf(t, "field\t%s\t%s\t%s", text.Name(f.Name), kind(&f.Value), size)
		if shown := begin(&f.Value); shown != "" {
			fmt.Fprintf(t, "\t%s", shown)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// begin returns the first characters of a value that is text.
func begin(v *converters.Value) string {
	data, err := fieldData(v)
	if err != nil || !readable(data) {
		return ""
	}
	if len(data) <= mostShown {
		return text.Line(string(data))
	}
	cut := mostShown
	for cut > 0 && !utf8.RuneStart(data[cut]) {
		cut--
	}
	return text.Line(string(data[:cut])) + "…"
}

// readable reports whether data can be written to a terminal: text, and no control characters but tabs and line breaks.
func readable(data []byte) bool {
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 || r < ' ' && r != '\n' && r != '\t' && r != '\r' || r >= 0x7f && r <= 0x9f {
			return false
		}
		data = data[n:]
	}
	return true
}
