package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard"
)

type inspectOptions struct {
	format choiceValue
	keys   int
	limits *record.Options
	most   int64 // bytes of a sample that is read
}

func newInspectCommand() *cobra.Command {
	opts := inspectOptions{format: formatValue()}
	cmd := &cobra.Command{
		Use:   "inspect OUT|FILE",
		Short: "Say what a dataset or a shard holds",
		Long: `Say what a dataset or a single shard holds: counts, the distribution of record sizes, the
encoding, classes or columns, and the first keys. Headers are checked, samples are not: that is what verify does.

` + exitStatus,
		Example: `  ffconvert inspect out/
  ffconvert inspect --keys 100 out/PART_00000.ffr`,
		Args: wantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runInspect(opts, args[0], cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.Var(&opts.format, "format", "output: text or json")
	flags.IntVar(&opts.keys, "keys", 5, "number of first keys to show")
	opts.limits = recordLimits(flags)
	sizeFlag(flags, &opts.most, "max-sample-size", record.DefaultMaxSample, "largest sample that is read for its key; it is held in memory whole")
	return cmd
}

// An inspection is what inspect prints.
type inspection struct {
	Path     string     `json:"path"`
	Tool     string     `json:"tool,omitempty"`
	Source   string     `json:"source,omitempty"`
	Encoding string     `json:"encoding,omitempty"`
	Fields   []string   `json:"fields,omitempty"` // of the first sample
	Shards   int        `json:"shards"`
	Samples  int        `json:"samples"`
	Bytes    int64      `json:"bytes"`
	Shard    spread     `json:"shard_bytes"`
	Record   spread     `json:"record_bytes"`
	Created  *time.Time `json:"created,omitempty"`  // of the manifest
	Verified *bool      `json:"verified,omitempty"` // each shard was, when it was written
	converters.Description
	Skipped map[string]int64 `json:"skipped,omitempty"`
	Keys    []string         `json:"first_keys"`
}

// A spread is a distribution of sizes, in bytes.
type spread struct {
	Min  int64 `json:"min"`
	P50  int64 `json:"p50"`
	Mean int64 `json:"mean"`
	P90  int64 `json:"p90"`
	P99  int64 `json:"p99"`
	Max  int64 `json:"max"`
}

func newSpread(sizes []int64) spread {
	if len(sizes) == 0 {
		return spread{}
	}
	slices.Sort(sizes)
	sum := int64(0)
	for _, n := range sizes {
		sum += n
	}
	n := len(sizes)
	at := func(percent int) int64 { return sizes[min(n-1, n*percent/100)] }
	return spread{Min: sizes[0], P50: at(50), Mean: sum / int64(n), P90: at(90), P99: at(99), Max: sizes[n-1]}
}

func runInspect(opts inspectOptions, path string, stdout io.Writer) error {
	if err := refuseURL(path); err != nil {
		return err
	}
	x, err := inspect(path, opts)
	if err != nil {
		return raise(err, "--max-samples, --max-sample-size; --keys 0 reads no sample")
	}
	if opts.format.value == "json" {
		enc := newJSONEncoder(stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(x)
	}
	return x.print(stdout)
}

func inspect(path string, opts inspectOptions) (*inspection, error) {
	r, err := record.Open(path, record.Options{AllowLegacy: true, MaxSamples: opts.limits.MaxSamples, MaxSample: math.MaxInt64})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	x := &inspection{Path: path, Shards: len(r.Files()), Samples: r.Len(), Keys: []string{}}
	var shards, records []int64
	for _, f := range r.Files() {
		x.Bytes += f.Size
		shards = append(shards, f.Size)
	}
	for i := range r.Len() {
		_, e, err := r.Extent(i)
		if err != nil {
			return nil, err
		}
		records = append(records, e.Size)
	}
	x.Shard, x.Record = newSpread(shards), newSpread(records)
	if err := x.manifest(r.Files()[0].Path); err != nil {
		return nil, err
	}
	return x, x.firstKeys(r, opts.keys, opts.most)
}

// manifest takes what the manifest beside the first shard says, where there is one.
func (x *inspection) manifest(shardPath string) error {
	m, err := shard.ReadManifest(filepath.Dir(shardPath))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	x.Tool, x.Source, x.Encoding = m.Tool, m.Source.Format, m.Encode.Encoding
	x.Created, x.Verified, x.Skipped = &m.Created, &m.Verified, m.Totals.Skipped
	meta, err := shard.ReadMeta(filepath.Dir(shardPath))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	x.Description = meta.Description
	return nil
}

// firstKeys reads the first keys out of the records, where these hold them, else out of
// the index beside the first shard. A sample of more than most bytes is not read.
func (x *inspection) firstKeys(r *record.Reader, n int, most int64) error {
	for i := range min(n, r.Len()) {
		if file, e, err := r.Extent(i); err != nil {
			return err
		} else if e.Size > most {
			return fmt.Errorf("%s: sample %d: %w: %d bytes", r.Files()[file].Path, i, record.ErrTooLarge, e.Size)
		}
		rec, err := r.Read(i, nil)
		if err != nil {
			return err
		}
		key, fields, ok := encode.Describe(rec)
		if !ok {
			keys, err := shard.IndexKeys(r.Files()[0].Path, n)
			x.Keys = append([]string{}, keys...)
			return err
		}
		if i == 0 {
			x.Fields = fields
		}
		if key != "" {
			x.Keys = append(x.Keys, key)
		}
	}
	return nil
}

func (x *inspection) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(t, name+"\t"+format+"\n", args...) }
	row("path", "%s", printable(x.Path))
	if x.Tool != "" {
		verified := "verified then"
		if !*x.Verified {
			verified = "not verified"
		}
		row("made by", "%s from %s, %s, %s", printable(x.Tool), printable(x.Source), moment(*x.Created), verified)
		row("encoding", "%s", printable(x.Encoding))
	}
	row("shards", "%s", humanize.Comma(int64(x.Shards)))
	row("samples", "%s", humanize.Comma(int64(x.Samples)))
	row("bytes", "%s (%s)", humanize.Comma(x.Bytes), humanize.IBytes(uint64(x.Bytes)))
	row("shard bytes", "%s", x.Shard)
	row("record bytes", "%s", x.Record)
	if len(x.Skipped) > 0 {
		row("skipped", "%s", plainText(skippedText(x.Skipped)))
	}
	if len(x.Fields) > 0 {
		row("fields", "%q", x.Fields)
	}
	if len(x.Classes) > 0 {
		row("classes", "%d, %.20q", len(x.Classes), x.Classes[:min(5, len(x.Classes))])
	}
	for i, c := range x.Columns {
		name := ""
		if i == 0 {
			name = "columns"
		}
		row(name, "%s %s", printable(c.Name), printable(c.DType))
	}
	if len(x.Shape) > 0 {
		row("shape", "%v", x.Shape)
	}
	for i, k := range x.Keys {
		name := ""
		if i == 0 {
			name = "first keys"
		}
		row(name, "%q", k)
	}
	return t.Flush()
}

func (s spread) String() string {
	return fmt.Sprintf("min %s  p50 %s  mean %s  p90 %s  p99 %s  max %s", humanize.Comma(s.Min), humanize.Comma(s.P50),
		humanize.Comma(s.Mean), humanize.Comma(s.P90), humanize.Comma(s.P99), humanize.Comma(s.Max))
}
