package look

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/record"
)

// How much of a dataset is read to count its fields, without --deep.
const (
	mostInspected      = 1000      // samples
	mostInspectedBytes = 256 << 20 // in all these samples
)

// At most mostFieldNames fields are counted each by its name; the others are counted together.
const (
	mostFieldNames  = 1000
	otherFieldNames = "(other names)"
)

// fieldCounts are the fields of the samples that were read, evenly spread over the dataset.
type fieldCounts struct {
	Fields []fieldCount `json:"fields,omitempty"` // in order of first appearance
	Read   int          `json:"samples_read"`     // samples that are maps of fields
	Others int          `json:"not_maps"`         // other samples that were read

	total int
	at    map[string]int // index in Fields, by name
}

// A fieldCount counts one field. Bytes are of its encoded values, including their heads.
type fieldCount struct {
	Name    string `json:"name"`
	Samples int64  `json:"samples"`
	Bytes   int64  `json:"bytes"`
	Min     int64  `json:"min_bytes"`
	Max     int64  `json:"max_bytes"`
}

// If the first manyOthers samples are not maps, the encoding has no fields.
const manyOthers = 16

// count reads samples, all of them if deep, and counts the fields of each that is a map. A sample of more than mostBytes is refused.
func (c *fieldCounts) count(ctx context.Context, r *record.Reader, deep bool, mostBytes int64) error {
	c.total, c.at = r.Len(), make(map[string]int)
	n := c.total
	if !deep && n > 0 {
		bytes := int64(0)
		for _, f := range r.Files() {
			bytes += f.Size
		}
		n = int(min(int64(n), mostInspected, max(1, mostInspectedBytes/max(1, bytes/int64(n)))))
	}
	var rec []byte
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if rec, err = readSample(r, i*c.total/n, mostBytes, rec); err != nil {
			return err
		}
		_, fields, ok := decode.Describe(rec)
		if !ok {
			if c.Others++; c.Read == 0 && c.Others == manyOthers {
				return nil
			}
			continue
		}
		c.Read++
		for _, f := range fields {
			c.add(f)
		}
	}
	return nil
}

func (c *fieldCounts) add(f decode.FieldSize) {
	at, ok := c.at[f.Name]
	if !ok && len(c.Fields) >= mostFieldNames {
		f.Name = otherFieldNames
		at, ok = c.at[f.Name]
	}
	if !ok {
		at = len(c.Fields)
		c.at[f.Name] = at
		c.Fields = append(c.Fields, fieldCount{Name: f.Name, Min: f.Bytes})
	}
	n := &c.Fields[at]
	n.Samples++
	n.Bytes += f.Bytes
	n.Min, n.Max = min(n.Min, f.Bytes), max(n.Max, f.Bytes)
}

func (c *fieldCounts) print(row func(name, format string, args ...any)) {
	if len(c.Fields) == 0 {
		return
	}
	seen := c.Read + c.Others
	read := "all " + terminal.Counted(int64(seen), "sample")
	switch {
	case c.total == 1:
		read = "the one sample"
	case seen < c.total:
		read = fmt.Sprintf("%s of %s samples, evenly spread (--deep: all)", humanize.Comma(int64(seen)), humanize.Comma(int64(c.total)))
	}
	var names []string
	for _, f := range c.Fields {
		names = append(names, f.Name)
	}
	if c.Others > 0 {
		read += ", " + humanize.Comma(int64(c.Others)) + " without fields"
	}
	row("fields", "%q, counted in %s; bytes as encoded", names, read)
	for _, f := range c.Fields {
		row("", "%s  %s, %s bytes  min %s  mean %s  max %s", text.Name(f.Name), terminal.Counted(f.Samples, "sample"), humanize.Comma(f.Bytes),
			humanize.Comma(f.Min), humanize.Comma(f.Bytes/f.Samples), humanize.Comma(f.Max))
	}
}

// readSample reads sample i into buf. A sample of more than most bytes is refused before it is read.
func readSample(r *record.Reader, i int, most int64, buf []byte) ([]byte, error) {
	file, e, err := r.Extent(i)
	if err != nil {
		return nil, err
	}
	if e.Size > most {
		return nil, fmt.Errorf("%s: sample %d: %w: %d bytes", r.Files()[file].Path, i, record.ErrTooLarge, e.Size)
	}
	return r.Read(i, buf)
}
