package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/packed"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/shard/plan"
)

type inspectOptions struct {
	format option.Choice
	keys   int
	deep   bool
	limits *record.Options
	most   int64 // bytes of a sample that is read
}

func newInspectCommand() *cobra.Command {
	opts := inspectOptions{format: formatValue()}
	cmd := &cobra.Command{
		Use:   "inspect OUT|FILE",
		Short: "Say what a dataset or a shard holds",
		Long: `Say what a dataset or a single shard holds: counts, the distribution of record sizes, the
encoding, the fields with counts and sizes, classes or columns, and the first keys.

Fields are counted in up to 1,000 samples, evenly spread, of 256 MiB in all; it says in how
many. --deep reads all samples. Headers are checked, and what is read; verify checks all.

` + exitStatus,
		Example: `  ffconvert inspect out/
  ffconvert inspect --deep out/
  ffconvert inspect --keys 100 out/PART_00000.ffr`,
		Args: wantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runInspect(cmd.Context(), opts, args[0], cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.Var(&opts.format, "format", "output: text or json")
	flags.IntVar(&opts.keys, "keys", 5, "number of first keys to show")
	flags.BoolVar(&opts.deep, "deep", false, "read every sample to count the fields")
	opts.limits = recordLimits(flags)
	sizeFlag(flags, &opts.most, "max-sample-size", record.DefaultMaxSample, "largest sample that is read for its key and fields; it is held in memory whole")
	return cmd
}

// An inspection is what inspect prints.
type inspection struct {
	Path     string         `json:"path"`
	Tool     string         `json:"tool,omitempty"`
	Source   string         `json:"source,omitempty"`
	Encoding string         `json:"encoding,omitempty"`
	Packed   *packed.Totals `json:"packed,omitempty"` // of the folder that the file is; nil: it is none
	Shards   int            `json:"shards"`
	Samples  int            `json:"samples"`
	Bytes    int64          `json:"bytes"`
	Shard    spread         `json:"shard_bytes"`
	Record   spread         `json:"record_bytes"`
	Created  *time.Time     `json:"created,omitempty"`  // of the manifest
	Verified *bool          `json:"verified,omitempty"` // each shard was, when it was written
	converters.Description
	Skipped map[string]int64 `json:"skipped,omitempty"`
	fieldCounts
	SourceFields plan.FieldCounts `json:"source_fields,omitempty"` // of all samples of the dataset, before --rename and --fields, counted when converted

	Keys []string `json:"first_keys"`
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

func runInspect(ctx context.Context, opts inspectOptions, path string, stdout io.Writer) error {
	if err := convert.LocalPath(path); err != nil {
		return err
	}
	x, err := inspect(ctx, path, opts)
	if err != nil {
		return raise(err, "--max-samples, --max-sample-size")
	}
	if opts.format.Value == "json" {
		enc := newJSONEncoder(stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(x)
	}
	return x.print(stdout)
}

func inspect(ctx context.Context, path string, opts inspectOptions) (*inspection, error) {
	r, err := record.Open(path, record.Options{AllowLegacy: true, MaxSamples: opts.limits.MaxSamples, MaxSample: math.MaxInt64})
	if err != nil {
		return nil, notShards(path, err)
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
	x.packed(opts)
	if err := x.manifest(r.Files()[0].Path); err != nil {
		return nil, err
	}
	if err := x.firstKeys(r, opts.keys, opts.most); err != nil {
		return nil, err
	}
	return x, x.fieldCounts.count(ctx, r, opts)
}

// packed tells whether the file is a packed folder.
func (x *inspection) packed(opts inspectOptions) {
	if f, err := packed.Open(x.Path, record.Options{AllowLegacy: true, MaxSamples: opts.limits.MaxSamples, MaxSample: opts.most}); err == nil {
		totals := f.Totals()
		x.Packed = &totals
		f.Close()
	}
}

// manifest takes what the manifest beside the first shard says, where there is one.
func (x *inspection) manifest(shardPath string) error {
	m, err := dataset.ReadManifest(filepath.Dir(shardPath))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	x.Tool, x.Source, x.Encoding = m.Tool, m.Source.Format, m.Encode.Encoding
	x.Created, x.Verified, x.Skipped = &m.Created, &m.Verified, m.Totals.Skipped
	meta, err := dataset.ReadMeta(filepath.Dir(shardPath))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	x.Description, x.SourceFields = meta.Description, meta.Fields
	return nil
}

// firstKeys reads the first keys out of the records, where these hold them, else out of
// the index beside the first shard. A sample of more than most bytes is not read.
func (x *inspection) firstKeys(r *record.Reader, n int, most int64) error {
	for i := range min(n, r.Len()) {
		rec, err := readSample(r, i, most, nil)
		if err != nil {
			return err
		}
		key, _, ok := encode.Describe(rec)
		if !ok {
			keys, err := shard.IndexKeys(r.Files()[0].Path, n)
			x.Keys = append([]string{}, keys...)
			return err
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
	row("path", "%s", text.Name(x.Path))
	if x.Tool != "" {
		verified := "verified then"
		if !*x.Verified {
			verified = "not verified"
		}
		row("made by", "%s from %s, %s, %s", text.Name(x.Tool), text.Name(x.Source), moment(*x.Created), verified)
		row("encoding", "%s", text.Name(x.Encoding))
	}
	if x.Packed != nil {
		row("packed", "a folder of %s: ffconvert ls %s", counted(x.Packed.Files, "file"), shellWord(x.Path))
	}
	row("shards", "%s", humanize.Comma(int64(x.Shards)))
	row("samples", "%s", humanize.Comma(int64(x.Samples)))
	row("bytes", "%s (%s)", humanize.Comma(x.Bytes), humanize.IBytes(uint64(x.Bytes)))
	row("shard bytes", "%s", x.Shard)
	row("record bytes", "%s", x.Record)
	if len(x.Skipped) > 0 {
		row("skipped", "%s", text.Line(skippedText(x.Skipped)))
	}
	x.fieldCounts.print(row)
	if len(x.SourceFields) > 0 && x.Source != "csv" {
		row("of sources", "%s; in the whole dataset, counted when converted", sourceFieldsText(x.SourceFields))
	}
	if len(x.Classes) > 0 {
		row("classes", "%d, %.20q", len(x.Classes), x.Classes[:min(5, len(x.Classes))])
	}
	for i, c := range x.Columns {
		name := ""
		if i == 0 {
			name = "columns"
		}
		row(name, "%s %s", text.Name(c.Name), text.Name(c.DType))
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

// sourceFieldsText is the names of fields and how many samples have each: the first of them by
// name, where they are many.
func sourceFieldsText(fields plan.FieldCounts) string {
	const most = 20
	var each []string
	for _, f := range fields[:min(most, len(fields))] {
		each = append(each, text.Name(f.Name)+" "+humanize.Comma(f.Samples))
	}
	if more := len(fields) - most; more > 0 {
		each = append(each, fmt.Sprintf("and %s more", humanize.Comma(int64(more))))
	}
	return strings.Join(each, ", ")
}

func (s spread) String() string {
	return fmt.Sprintf("min %s  p50 %s  mean %s  p90 %s  p99 %s  max %s", humanize.Comma(s.Min), humanize.Comma(s.P50),
		humanize.Comma(s.Mean), humanize.Comma(s.P90), humanize.Comma(s.P99), humanize.Comma(s.Max))
}
