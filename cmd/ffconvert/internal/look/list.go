package look

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/jsonvalue"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/text"
)

// A Lister lists samples.
type Lister struct {
	Datasets
	Format option.Choice // text or json
	Long   bool          // with the fields, for which all records are read
}

// Run lists the samples of a dataset or a shard.
func (l *Lister) Run(ctx context.Context, path string, stdout io.Writer) (err error) {
	defer func() { err = l.End(err) }()
	d, err := l.openAny(ctx, path)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(stdout, 64<<10)
	var line []byte
	write := func(r *lookup.Row, data []byte) (err error) {
		s := sampleLine{Row: r, JSON: l.Format.Value == "json", Long: l.Long}
		if l.Long {
			if s.Sample, err = d.Decode(r, data); err != nil {
				return err
			}
		}
		line = s.append(line[:0])
		_, err = out.Write(line)
		return err
	}
	if l.Long {
		err = d.WalkRecords(ctx, write)
	} else {
		for r, fault := range d.Walk(ctx) {
			if err = fault; err == nil {
				err = write(r, nil)
			}
			if err != nil {
				break
			}
		}
	}
	return errors.Join(out.Flush(), err) // rows before the error are shown
}

// A sampleLine is a sample in a list.
type sampleLine struct {
	Row    *lookup.Row
	Sample *converters.Sample // its fields, if Long
	Long   bool
	JSON   bool
}

// append appends the line: for people the size of the record, its key and its label, for programs an object.
func (l *sampleLine) append(b []byte) []byte {
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
	b = append(append(b, "  "...), sampleName(l.Row)...)
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

func (l *sampleLine) appendJSON(b []byte) []byte {
	b = appendSample(append(b, '{'), l.Row)
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
