package summary

import (
	"strconv"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/jsonvalue"
	"github.com/ffconvert/ffconvert/internal/text"
)

// A SampleLine is a sample in a list.
type SampleLine struct {
	Row    *lookup.Row
	Sample *converters.Sample // its fields, if Long
	Long   bool
	JSON   bool
}

// Append appends the line: for people the size of the record, its key and its label, for programs an object.
func (l *SampleLine) Append(b []byte) []byte {
	if l.Long && l.Row.Key == "" {
		l.Row.Key = l.Sample.Key
	}
	if l.JSON {
		return l.appendJSON(b)
	}
	b = pad(b, l.Row.At.Size, 12)
	if l.Long && l.Row.Key != "" {
		b = append(b, "  #"...)
		b = strconv.AppendInt(b, l.Row.Number, 10)
	}
	b = append(append(b, "  "...), SampleName(l.Row)...)
	if l.Row.Labeled {
		b = append(b, "  label="...)
		b = strconv.AppendInt(b, l.Row.Label, 10)
	}
	if l.Long {
		for i := range l.Sample.Fields {
			f := &l.Sample.Fields[i]
			b = append(append(append(b, "  "...), text.Name(f.Name)...), '=')
			b = strconv.AppendInt(b, size(&f.Value), 10)
		}
	}
	return append(b, '\n')
}

// pad appends a number in a column of a width.
func pad(b []byte, n int64, width int) []byte {
	var buf [20]byte
	digits := strconv.AppendInt(buf[:0], n, 10)
	for range width - len(digits) {
		b = append(b, ' ')
	}
	return append(b, digits...)
}

func (l *SampleLine) appendJSON(b []byte) []byte {
	b = AppendSample(append(b, '{'), l.Row)
	if l.Long {
		b = append(b, `,"fields":[`...)
		for i := range l.Sample.Fields {
			f := &l.Sample.Fields[i]
			if i > 0 {
				b = append(b, ',')
			}
			b = append(jsonvalue.AppendString(append(b, `{"name":`...), f.Name), `,"kind":"`...)
			b = append(append(b, kind(&f.Value)...), `","size":`...)
			b = append(strconv.AppendInt(b, size(&f.Value), 10), '}')
		}
		b = append(b, ']')
	}
	return terminal.EscapeJSON(append(b, "}\n"...))
}
