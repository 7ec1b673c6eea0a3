package summary

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/signature"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/packed"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// ContentLimits limit how much is read.
type ContentLimits struct {
	Keys       int   // number of first keys
	Deep       bool  // read every sample to count fields
	MaxSamples int64 // most samples of a shard
	MaxSample  int64 // bytes of the largest sample that is read
}

// A report is the JSON document of inspect.
type content struct {
	Path     string         `json:"path"`
	Tool     string         `json:"tool,omitempty"`
	Source   string         `json:"source,omitempty"`
	Encoding string         `json:"encoding,omitempty"`
	Packed   *packed.Totals `json:"packed,omitempty"` // nil: not a packed folder
	Shards   int            `json:"shards"`
	Samples  int            `json:"samples"`
	Bytes    int64          `json:"bytes"`
	Shard    spread         `json:"shard_bytes"`
	Record   spread         `json:"record_bytes"`
	Index    int64          `json:"index_bytes,omitempty"` // of all indexes, as the manifest says
	Created  *time.Time     `json:"created,omitempty"`     // when the manifest was written
	Verified *bool          `json:"verified,omitempty"`    // whether each shard was verified when it was written
	Root     string         `json:"root_sha256,omitempty"` // of the SHA-256 of all files, as the manifest says
	SignedBy string         `json:"signed_by,omitempty"`   // ID of the key, as the signature says; it is not checked
	converters.Description
	Skipped map[string]int64 `json:"skipped,omitempty"`
	Choice  *choose.Options  `json:"choice,omitempty"`      // of samples, when they were converted; nil: all
	LeftOut map[string]int64 `json:"left_out_by,omitempty"` // samples that were not chosen, by option
	NotWhole
	fieldCounts
	SourceFields plan.FieldCounts `json:"source_fields,omitempty"` // of all samples, before --rename and --fields, counted by the conversion

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

// Content inspects the shards that r has opened at path.
func Content(ctx context.Context, path string, r *record.Reader, opts ContentLimits) (*content, error) {
	x := &content{Path: path, Shards: len(r.Files()), Samples: r.Len(), Keys: []string{}}
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
	if err := x.firstKeys(r, opts.Keys, opts.MaxSample); err != nil {
		return nil, err
	}
	return x, x.fieldCounts.count(ctx, r, opts)
}

// Outline inspects a dataset by its manifest and the meta.json in dir alone, where shards are not at hand: without the sizes
// and the fields of its records. path is its name in the report.
func Outline(path, dir string, m *dataset.Manifest) (*content, error) {
	x := &content{Path: path, Shards: len(m.Shards), Samples: int(m.Totals.SamplesWritten), Bytes: m.Totals.Bytes, Keys: []string{}}
	var shards []int64
	for i := range m.Shards {
		shards = append(shards, m.Shards[i].Bytes)
	}
	x.Shard = newSpread(shards)
	return x, x.describe(m, dir)
}

// packed sets Packed if the file is a packed folder.
func (x *content) packed(opts ContentLimits) {
	if f, err := packed.Open(x.Path, record.Options{AllowLegacy: true, MaxSamples: opts.MaxSamples, MaxSample: opts.MaxSample}); err == nil {
		totals := f.Totals()
		x.Packed = &totals
		f.Close()
	}
}

// manifest sets the fields that come from the manifest in the directory of the first shard, if there is one.
func (x *content) manifest(shardPath string) error {
	m, err := dataset.ReadManifest(filepath.Dir(shardPath))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return x.describe(m, filepath.Dir(shardPath))
}

// describe sets the fields that come from a manifest and the meta.json in a directory.
func (x *content) describe(m *dataset.Manifest, dir string) error {
	x.Tool, x.Source, x.Encoding = m.Tool, m.Source.Format, m.Encode.Encoding
	x.Created, x.Verified, x.Skipped = &m.Created, &m.Verified, m.Totals.Skipped
	x.Choice, x.LeftOut, x.NotWhole = m.Choice, m.Totals.LeftOutBy, newNotWhole(m)
	for i := range m.Shards {
		x.Index += m.Shards[i].Index.Bytes
	}
	if err := x.proof(dir, m); err != nil {
		return err
	}
	meta, err := dataset.ReadMeta(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	x.Description, x.SourceFields = meta.Description, meta.Fields
	return nil
}

// proof sets the root, and the key that the signature names.
func (x *content) proof(dir string, m *dataset.Manifest) error {
	if !m.Root.IsZero() {
		x.Root = m.Root.String()
	}
	_, text, err := dataset.ReadSigned(dir)
	if err != nil || text == nil {
		return err
	}
	signed, err := signature.Read(text)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, dataset.SignatureName), err)
	}
	x.SignedBy = signed.Key
	return nil
}

// firstKeys reads the first n keys, if records have keys. A sample of more than most bytes is not read.
func (x *content) firstKeys(r *record.Reader, n int, most int64) error {
	for i := range min(n, r.Len()) {
		rec, err := readSample(r, i, most, nil)
		if err != nil {
			return err
		}
		key, _, ok := decode.Describe(rec)
		if !ok {
			x.Keys = []string{}
			return nil
		}
		if key != "" {
			x.Keys = append(x.Keys, key)
		}
	}
	return nil
}

func (x *content) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(t, name+"\t"+format+"\n", args...) }
	row("path", "%s", text.Name(x.Path))
	if x.Tool != "" {
		verified := "verified then"
		if !*x.Verified {
			verified = "not verified"
		}
		row("made by", "%s from %s, %s, %s", text.Name(x.Tool), text.Name(x.Source), terminal.Moment(*x.Created), verified)
		row("encoding", "%s", text.Name(x.Encoding))
	}
	if x.Packed != nil {
		row("packed", "a folder of %s: ffconvert ls %s", terminal.Counted(x.Packed.Files, "file"), text.ShellWord(x.Path))
	}
	row("shards", "%s", humanize.Comma(int64(x.Shards)))
	row("samples", "%s", humanize.Comma(int64(x.Samples)))
	row("bytes", "%s (%s)", humanize.Comma(x.Bytes), humanize.IBytes(uint64(x.Bytes)))
	row("shard bytes", "%s", x.Shard)
	if x.Record != (spread{}) {
		row("record bytes", "%s", x.Record)
	}
	if x.Index > 0 {
		row("index bytes", "%s (%s)", humanize.Comma(x.Index), humanize.IBytes(uint64(x.Index)))
	}
	if x.Root != "" {
		row("root sha256", "%s", x.Root)
	}
	if x.SignedBy != "" {
		row("signed by", "the key %s, not checked: ffconvert verify --key PUBLIC %s", x.SignedBy, text.ShellWord(x.Path))
	}
	if len(x.Skipped) > 0 {
		row("skipped", "%s", text.Line(SkippedText(x.Skipped)))
	}
	if x.Choice != nil {
		row("chosen by", "%s", text.Line(x.Choice.String()))
	}
	if len(x.LeftOut) > 0 {
		row("left out", "%s", text.Line(LeftOutText(x.LeftOut)))
	}
	if x.NotWhole.Fields > 0 {
		row("not whole", "%s", text.Line(x.NotWhole.text()))
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

// sourceFieldsText lists fields and how many samples have each, at most 20 by name.
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
