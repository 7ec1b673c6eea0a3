package look

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/jsonvalue"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/internal/text"
)

// A Lister lists samples.
type Lister struct {
	Datasets
	Format option.Choice // text or json
	Long   bool          // with the fields, for which records are read
	Where  string        // only samples for which this holds, see [choose.CheckWhere]; size is that of the record
}

// Run lists the samples of a dataset or a shard.
func (l *Lister) Run(ctx context.Context, path string, stdout io.Writer) (err error) {
	defer func() { err = l.End(err) }()
	d, err := l.Open(ctx, path)
	if err != nil {
		return err
	}
	var classes []string
	if l.Where != "" && d.Ours() {
		meta, err := dataset.ReadMeta(d.Dir)
		if err != nil {
			return err
		}
		classes = meta.Classes
	}
	where, err := choose.New(choose.Options{Where: l.Where}, classes)
	if err != nil {
		return err
	}
	out, asked := bufio.NewWriterSize(stdout, 64<<10), false
	var line []byte
	wants := func(r *lookup.Row) bool {
		if !l.Long && !where.Compares() {
			return false
		}
		ok, err := where.Holds(r.Key, r.At.Size, r.Label, r.Labeled, nil)
		return ok && err == nil
	}
	err = d.WalkRecords(ctx, wants, func(r *lookup.Row, data []byte) (err error) {
		var s *converters.Sample
		if wants(r) {
			if s, err = d.Decode(r, data); err != nil {
				return err
			}
		}
		asked = asked || s != nil || !where.Compares()
		if ok, err := where.Holds(r.Key, r.At.Size, r.Label, r.Labeled, s); err != nil {
			return &place.Error{Where: r.Shard, Off: -1, Entry: sampleName(r), Err: err}
		} else if !ok {
			return nil
		}
		if !l.Long {
			s = nil
		}
		line = appendLine(line[:0], r, s, l.Format.Value == "json")
		_, err = out.Write(line)
		return err
	})
	if err == nil && asked {
		err = where.Finish()
	}
	return errors.Join(out.Flush(), err) // rows before the error are shown
}

// appendLine appends a sample as a line: for people the size of the record, its key and its label, for programs an object. s has its
// fields; nil: they are not listed.
func appendLine(b []byte, r *lookup.Row, s *converters.Sample, json bool) []byte {
	if s != nil && r.Key == "" {
		r.Key = s.Key
	}
	if json {
		return appendLineJSON(b, r, s)
	}
	b = pad(b, r.At.Size, 12)
	if s != nil && r.Key != "" {
		b = strconv.AppendInt(append(b, "  #"...), r.Number, 10)
	}
	b = append(append(b, "  "...), sampleName(r)...)
	if r.Labeled {
		b = strconv.AppendInt(append(b, "  label="...), r.Label, 10)
	}
	if s != nil {
		for i := range s.Fields {
			f := &s.Fields[i]
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

func appendLineJSON(b []byte, r *lookup.Row, s *converters.Sample) []byte {
	b = appendSample(append(b, '{'), r)
	if s != nil {
		b = append(b, `,"fields":[`...)
		for i := range s.Fields {
			f := &s.Fields[i]
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
