package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/summary"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/packed"
	"github.com/ffconvert/ffconvert/record"
)

// lookupFlags are the flags of the commands that look at single samples.
type lookupFlags struct {
	opts    lookup.Options
	records option.Choice
	views   *views // datasets in object stores; nil: the command takes none
}

func (l *lookupFlags) add(flags *pflag.FlagSet) {
	flags.Var(option.MaxSize(&l.opts.Record.MaxSample, record.DefaultMaxSample), "max-sample-size", "largest sample that is read; it is held in memory whole")
	l.addRecords(flags)
	l.views = newViews()
	l.views.AddPlace(flags, false)
}

// end ends the use of datasets in object stores. err is the error of the command.
func (l *lookupFlags) end(err error) error { return l.views.end(err) }

// addRecords adds the flags that say which records are read, and how.
func (l *lookupFlags) addRecords(flags *pflag.FlagSet) {
	l.records = option.Choice{Words: []string{"msgpack", "cbor", "pickle", "arrow", "raw"}}
	flags.BoolVar(&l.opts.Record.AllowLegacy, "allow-legacy", false, "accept headers without a checksum, as old writers left them")
	flags.Var(&l.records, "records", "what the records of other people's shards, and raw ones, are: msgpack, cbor, pickle, arrow or raw (default: opaque bytes)")
	flags.Var(option.Count(&l.opts.Record.MaxSamples, record.MaxSamples), "max-samples", "most samples of a shard accepted")
	flags.Var(option.MaxSize(&l.opts.Limits.MaxDecode, decode.DefaultMaxDecode), "max-decode-size", "largest list or map that is decoded")
	l.opts.Limits.MaxDepth = decode.DefaultMaxDepth
	flags.Var(option.Between(&l.opts.Limits.MaxDepth, 4, 65535), "max-decode-depth", "deepest nesting that is decoded, 4 to 65535")
}

// open opens a dataset or a shard.
func (l *lookupFlags) open(ctx context.Context, path string) (*lookup.Dataset, error) {
	l.opts.Encoding = l.records.Value
	if l.views != nil && convert.IsURL(path) {
		d, err := l.views.lookup(ctx, path, l.opts)
		return d, explainLookup(err)
	}
	if err := convert.LocalPath(path); err != nil {
		return nil, err
	}
	d, err := lookup.Open(path, l.opts)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, record.ErrCorrupt) {
		err = cliflag.NotShards(path, err)
	}
	return d, explainLookup(err)
}

// explainLookup adds the flags that help.
func explainLookup(err error) error {
	if errors.Is(err, record.ErrLegacy) {
		return fmt.Errorf("%w%s", err, cliflag.Legacy)
	}
	return cliflag.OverLimit(err, "--max samples, --max sample-size")
}

// A getter writes samples.
type getter struct {
	lookupFlags
	format            option.Choice
	all, force, byKey bool

	d     *lookup.Dataset
	field string // "": the whole sample
	out   io.Writer
}

func newGetCommand() *cobra.Command {
	g := getter{format: option.Choice{Value: "record", Words: []string{"record", "text", "json"}}}
	cmd := &cobra.Command{
		Use:   "get OUT|FILE KEY|#N [FIELD]",
		Short: "Write one sample, or a field of it, to standard output",
		Long: `Write the record of one sample to standard output, or one of its fields: text as UTF-8, a
number in decimal, lists and maps as JSON. The sample is named by its key, or by its number in
the dataset, from #0 on. Its bytes are compared with their checksum before the first is written.

--format text shows the fields, --format json has all of them in a line; bytes are base64 there.
Bytes that are not text are not written to a terminal unless --force is given.

The first search for a key in a dataset of more than 131,072 samples reads all indexes, and leaves a
table of 8 bytes a sample in OUT/.ffconvert, where it can be written. Later ones read some pages of it.

` + exitStatus,
		Example: `  ffconvert get out/ train/000017 jpg > 17.jpg
  ffconvert get out/ '#17' --format text
  ffconvert get other.ffr '#0' | xxd | head`,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if g.out = cmd.OutOrStdout(); len(args) == 3 {
				g.field = args[2]
			}
			return g.end(g.run(cmd.Context(), args[0], args[1]))
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&g.format, "format", "output: record (or the field alone), text, or json")
	flags.BoolVar(&g.all, "all", false, "write all samples that have the key, one behind the other")
	flags.BoolVar(&g.byKey, "by-key", false, "take a word that looks like #N for a key")
	flags.BoolVar(&g.force, "force", false, "write bytes that are not text to a terminal, too")
	g.lookupFlags.add(flags)
	return cmd
}

var numbered = regexp.MustCompile(`^#[0-9]+$`)

var errNoKey = place.New(place.Refused, "no sample has the key")

func (g *getter) run(ctx context.Context, path, name string) (err error) {
	if g.d, err = g.open(ctx, path); err != nil {
		return err
	}
	if numbered.MatchString(name) && !g.byKey {
		n, err := strconv.ParseInt(name[1:], 10, 64)
		if err != nil {
			return &place.Error{Where: path, Off: -1, Err: fmt.Errorf("%w: %s of %d, which are numbered from 0", lookup.ErrRange, name, g.d.Len())}
		}
		row, err := g.d.Row(n, g.format.Value != "record")
		if err != nil {
			return explainLookup(err)
		}
		return explainLookup(g.write(row))
	}
	return explainLookup(g.find(ctx, name))
}

// mostNamed is how many samples of one key are named in a message.
const mostNamed = 10

// find writes the sample of a key.
func (g *getter) find(ctx context.Context, key string) error {
	keyed, err := g.d.Keyed()
	if err == nil && !keyed {
		at := &place.Error{Where: g.d.Path, Off: -1, Err: fmt.Errorf("%w %q: its samples have no keys", errNoKey, key), Hint: fmt.Sprintf("name one by its number, #0 to #%d", g.d.Len()-1)}
		if f, err := packed.Open(g.d.Path, g.opts.Record); err == nil {
			at.Hint = fmt.Sprintf("it is a packed folder: ffconvert cat %s %s", text.ShellWord(g.d.Path), text.ShellWord(key))
			f.Close()
		}
		err = at
	}
	if err != nil {
		return err
	}
	var rows []lookup.Row
	for r, err := range g.d.Find(ctx, key) {
		if err != nil {
			return err
		}
		if g.all {
			if err := g.write(r); err != nil {
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
	case g.all:
		return nil
	case len(rows) > 1:
		return several(g.d.Path, key, rows)
	}
	return g.write(&rows[0])
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
func (g *getter) unknown(ctx context.Context, key string) error {
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
func (g *getter) write(r *lookup.Row) error {
	data, err := g.d.Record(r)
	if err != nil {
		return err
	}
	if g.field == "" && g.format.Value == "record" {
		return g.bytes(data, "the record")
	}
	if g.field == "" { // its key and label are shown
		if err := g.d.CheckIndex(r); err != nil {
			return err
		}
	}
	s, err := g.d.Decode(r, data)
	if err != nil {
		return err
	}
	if r.Key == "" {
		r.Key = s.Key
	}
	if g.field == "" && g.format.Value == "text" {
		return summary.WriteSample(g.out, r, s)
	}
	if g.field == "" {
		err = summary.WriteSampleJSON(g.out, r, s)
	} else {
		err = g.writeField(r, s)
	}
	if errors.Is(err, converters.ErrUnsupported) {
		err = &place.Error{Where: r.Shard, Off: r.At.Off, Entry: s.Key, Err: err, Hint: "without FIELD and --format the whole record is written"}
	}
	return err
}

// writeField writes the field that was asked for.
func (g *getter) writeField(r *lookup.Row, s *converters.Sample) error {
	v, ok := s.Field(g.field)
	if !ok {
		var names []string
		for i := range s.Fields {
			names = append(names, strconv.Quote(s.Fields[i].Name))
		}
		return &place.Error{Where: g.d.Path, Off: -1, Err: fmt.Errorf("sample %s has no field %q, but %s", summary.SampleName(r), g.field, strings.Join(names, ", "))}
	}
	if g.format.Value == "json" {
		line, err := summary.FieldJSON(&v)
		if err == nil {
			_, err = g.out.Write(line)
		}
		return err
	}
	data, err := summary.FieldData(&v)
	if err != nil {
		return fmt.Errorf("field %q: %w", g.field, err)
	}
	return g.bytes(data, fmt.Sprintf("the field %q", g.field))
}

// bytes writes data unchanged, to a terminal only if it is text.
func (g *getter) bytes(data []byte, what string) error {
	if !g.force && terminal.IsTerminal(g.out) && !summary.Readable(data) {
		return &place.Error{Where: g.d.Path, Off: -1, Kind: place.Usage, Err: fmt.Errorf("%s is not text, %s, and standard output is a terminal", what, terminal.Counted(int64(len(data)), "byte")),
			Hint: "redirect it to a file, or --format text, or --force"}
	}
	_, err := g.out.Write(data)
	return err
}
