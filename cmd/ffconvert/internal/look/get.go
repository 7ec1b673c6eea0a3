package look

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/jsonvalue"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/packed"
)

// A Getter writes samples.
type Getter struct {
	Datasets
	Format option.Choice // record, text or json
	Field  string        // "": the whole sample
	All    bool          // all samples of the key, not one
	ByKey  bool          // #N is a key, too
	Force  bool          // bytes that are not text go to a terminal
	Out    io.Writer

	d *lookup.Dataset
}

var numbered = text.Pattern(`^#[0-9]+$`)

var errNoKey = place.New(place.Refused, "no sample has the key")

// Run writes one sample of a dataset or a shard. name is its key, or #N for its number.
func (g *Getter) Run(ctx context.Context, path, name string) (err error) {
	defer func() { err = g.End(err) }()
	if g.d, err = g.Open(ctx, path); err != nil {
		return err
	}
	if numbered().MatchString(name) && !g.ByKey {
		n, err := strconv.ParseInt(name[1:], 10, 64)
		if err != nil {
			return &place.Error{Where: path, Off: -1, Err: fmt.Errorf("%w: %s of %d, which are numbered from 0", lookup.ErrRange, name, g.d.Len())}
		}
		row, err := g.d.Row(n, g.Format.Value != "record")
		if err != nil {
			return err
		}
		return g.write(ctx, row)
	}
	return g.find(ctx, name)
}

// mostNamed is the most samples of one key that a message lists.
const mostNamed = 10

// find writes the sample of a key.
func (g *Getter) find(ctx context.Context, key string) error {
	keyed, err := g.d.Keyed()
	if err == nil && !keyed {
		at := &place.Error{Where: g.d.Path, Off: -1, Err: fmt.Errorf("%w %q: its samples have no keys", errNoKey, key), Hint: fmt.Sprintf("name one by its number, #0 to #%d", g.d.Len()-1)}
		if f, err := packed.Open(g.d.Path, g.Lookup.Record); err == nil {
			at.Hint = fmt.Sprintf("it is a packed folder: ffconvert cat %s %s", text.ShellWord(g.d.Path), text.ShellWord(key))
			f.Close()
		}
		err = at
	}
	if err != nil {
		return err
	}
	var rows []lookup.Row
	for r, err := range g.d.Find(ctx, key, g.All) {
		if err != nil {
			return err
		}
		if g.All {
			if err := g.write(ctx, r); err != nil {
				return err
			}
			rows = append(rows[:0], *r)
			continue
		}
		if rows = append(rows, *r); len(rows) > mostNamed {
			break
		}
	}
	switch {
	case len(rows) == 0:
		return g.unknown(ctx, key)
	case g.All:
		return nil
	case len(rows) > 1:
		for _, err := range g.d.Find(ctx, key, true) { // a damaged index may have the key of another sample
			if err != nil {
				return err
			}
		}
		return several(g.d.Path, key, rows)
	}
	return g.write(ctx, &rows[0])
}

// several refuses a key that several samples have.
func several(path, key string, rows []lookup.Row) error {
	var names []string
	for _, r := range rows[:min(len(rows), mostNamed)] {
		names = append(names, fmt.Sprintf("#%d", r.Number))
	}
	if len(rows) > mostNamed {
		names = append(names, "and more")
	}
	err := fmt.Errorf("several samples have the key %q: %s", key, strings.Join(names, ", "))
	return &place.Error{Where: path, Off: -1, Err: err, Hint: "name one by its number; --all writes all"}
}

// unknown is the error of a key that no sample has.
func (g *Getter) unknown(ctx context.Context, key string) error {
	at := &place.Error{Where: g.d.Path, Off: -1, Err: fmt.Errorf("%w %q", errNoKey, key)}
	near, err := g.d.Near(ctx, key)
	if err != nil {
		return err
	}
	at.Hint = "ffconvert ls lists all"
	n, err := strconv.ParseInt(key, 10, 64)
	switch {
	case err == nil && n >= 0 && n < g.d.Len():
		at.Hint = fmt.Sprintf("'#%d' is the sample of this number", n)
	case err == nil && n >= 0 && near == "":
		at.Hint = fmt.Sprintf("by number its samples are '#0' to '#%d'", g.d.Len()-1)
	case near != "":
		at.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return at
}

// write writes a sample, or its field.
func (g *Getter) write(ctx context.Context, r *lookup.Row) error {
	if g.Field == "" && g.Format.Value != "record" { // the output has its key and label, which come from the index
		if err := g.d.CheckIndex(ctx, r); err != nil {
			return err
		}
	}
	data, err := g.d.Record(ctx, r)
	if err != nil {
		return err
	}
	if g.Field == "" && g.Format.Value == "record" {
		return g.bytes(data, "the record")
	}
	s, err := g.d.Decode(r, data)
	if err == nil {
		s, err = g.columns(r, data, s)
	}
	if err != nil {
		return err
	}
	r.Key = cmp.Or(r.Key, s.Key)
	if g.Field == "" && g.Format.Value == "text" {
		return writeSample(g.Out, r, s)
	}
	if g.Field == "" {
		err = writeSampleJSON(g.Out, r, s)
	} else {
		err = g.writeField(r, s)
	}
	if errors.Is(err, converters.ErrUnsupported) {
		err = &place.Error{Where: r.Shard, Off: r.At.Off, Entry: s.Key, Err: err, Hint: "without FIELD and --format the whole record is written"}
	}
	return err
}

// columns returns the sample of a record with its columns as fields, if it is a row of numbers and s, which has the record
// as its field, lacks Field.
func (g *Getter) columns(r *lookup.Row, data []byte, s *converters.Sample) (*converters.Sample, error) {
	if _, ok := s.Field(g.Field); ok || !g.d.Ours() || g.d.Encoding(r) != "raw" {
		return s, nil
	}
	meta, err := dataset.ReadMeta(g.d.Dir)
	if err != nil {
		return nil, err
	}
	row := decode.NewRows(meta.Description)
	if row == nil {
		return s, nil
	}
	if s, err = row(data); err != nil {
		err = &place.Error{Where: r.Shard, Off: r.At.Off, Err: err}
	}
	return s, err
}

// writeField writes Field.
func (g *Getter) writeField(r *lookup.Row, s *converters.Sample) error {
	v, ok := s.Field(g.Field)
	if !ok {
		var names []string
		for i := range s.Fields {
			names = append(names, strconv.Quote(s.Fields[i].Name))
		}
		return &place.Error{Where: g.d.Path, Off: -1, Err: fmt.Errorf("sample %s has no field %q, but %s", sampleName(r), g.Field, strings.Join(names, ", "))}
	}
	if g.Format.Value == "json" {
		line, err := jsonvalue.Append(nil, &v)
		if err == nil {
			_, err = g.Out.Write(append(terminal.EscapeJSON(line), '\n'))
		}
		return err
	}
	data, err := fieldData(&v)
	if err != nil {
		return fmt.Errorf("field %q: %w", g.Field, err)
	}
	return g.bytes(data, fmt.Sprintf("the field %q", g.Field))
}

// bytes writes data unchanged, to a terminal only if it is text.
func (g *Getter) bytes(data []byte, what string) error {
	if !g.Force && terminal.IsTerminal(g.Out) && !readable(data) {
		return &place.Error{Where: g.d.Path, Off: -1, Kind: place.Usage, Err: fmt.Errorf("%s is not text, %s, and standard output is a terminal", what, terminal.Counted(int64(len(data)), "byte")),
			Hint: "redirect it to a file, or --format text, or --force"}
	}
	_, err := g.Out.Write(data)
	return err
}
