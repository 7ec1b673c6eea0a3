package look

import (
	"bufio"
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

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/signature"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/packed"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// An Inspector writes an outline of a dataset: counts, sizes, fields, classes, the first keys.
type Inspector struct {
	Datasets
	Format option.Choice // text or json
	Keys   int           // number of first keys
	Deep   bool          // read every sample to count fields
	Sums   bool          // write the SHA-256 of all files in place of the outline
}

// Run inspects a dataset or a shard.
func (in *Inspector) Run(ctx context.Context, path string, stdout io.Writer) (err error) {
	defer func() { err = in.End(err) }()
	if in.Sums {
		return in.sums(ctx, path, stdout)
	}
	inspect := in.local
	if convert.IsURL(path) {
		inspect = in.remote
	}
	x, err := inspect(ctx, path)
	if err != nil {
		return err
	}
	if in.Format.Value == "json" {
		return terminal.WriteJSON(stdout, x)
	}
	return x.print(stdout)
}

// sums writes the SHA-256 of the files of a dataset.
func (in *Inspector) sums(ctx context.Context, dir string, stdout io.Writer) error {
	var m *dataset.Manifest
	var err error
	if convert.IsURL(dir) {
		var out *dataset.Dataset
		if out, err = in.view(ctx, dir); err == nil {
			m, err = out.Manifest()
		}
	} else if err = dataset.CheckPath(dir); err == nil {
		if m, err = dataset.ReadManifest(dir); err != nil {
			err = cliflag.NotShards(dir, err)
		}
	}
	if err != nil {
		return err
	}
	w := bufio.NewWriter(stdout)
	if err := m.WriteSums(w); err != nil {
		return fmt.Errorf("%s: %w (ffconvert finish --sha256 %s adds them)", dir, err, text.ShellWord(dir))
	}
	return w.Flush()
}

// remote inspects a dataset in an object store by its manifest, meta.json and an index: without the sizes and the fields of its
// records.
func (in *Inspector) remote(ctx context.Context, url string) (*content, error) {
	if in.Deep {
		return nil, fmt.Errorf("%s: --deep reads every sample; bring the dataset here first: ffconvert copy", url)
	}
	out, err := in.view(ctx, url)
	if err != nil {
		return nil, err
	}
	m, err := out.Manifest()
	if err != nil {
		return nil, err
	}
	x := &content{Path: url, Shards: len(m.Shards), Samples: int(m.Totals.SamplesWritten), Bytes: m.Totals.Bytes, Keys: []string{}}
	var shards []int64
	for i := range m.Shards {
		shards = append(shards, m.Shards[i].Bytes)
	}
	x.Shard = newSpread(shards)
	if err := x.describe(m, out.Path("")); err != nil {
		return nil, err
	}
	d, err := in.samples(out)
	if err != nil {
		return nil, err
	}
	for i := range min(int64(in.Keys), d.Len()) {
		row, err := d.Row(i, true)
		if err != nil {
			return nil, err
		}
		if row.Key != "" {
			x.Keys = append(x.Keys, row.Key)
		}
	}
	return x, nil
}

// local inspects a dataset or a shard on this machine.
func (in *Inspector) local(ctx context.Context, path string) (*content, error) {
	r, err := record.Open(path, record.Options{AllowLegacy: true, MaxSamples: in.Lookup.Record.MaxSamples, MaxSample: math.MaxInt64})
	if err != nil {
		return nil, cliflag.NotShards(path, err)
	}
	defer r.Close()
	x := &content{Path: path, Shards: len(r.Files()), Samples: r.Len(), Keys: []string{}}
	var shards []int64
	records := make([]int64, 0, r.Len())
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
	if f, err := packed.Open(path, in.Lookup.Record); err == nil {
		totals := f.Totals()
		x.Packed = &totals
		f.Close()
	}
	if err := x.manifest(r.Files()[0].Path); err != nil {
		return nil, err
	}
	if err := x.firstKeys(r, in.Keys, in.Lookup.Record.MaxSample); err != nil {
		return nil, err
	}
	return x, x.fieldCounts.count(ctx, r, in.Deep, in.Lookup.Record.MaxSample)
}

// A content is the JSON document of inspect.
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
	Index    int64          `json:"index_bytes,omitempty"` // of all indexes, from the manifest
	Created  *time.Time     `json:"created,omitempty"`     // when the manifest was written
	Verified *bool          `json:"verified,omitempty"`    // whether each shard was verified when it was written
	Root     string         `json:"root_sha256,omitempty"` // of the SHA-256 of all files, from the manifest
	SignedBy string         `json:"signed_by,omitempty"`   // ID of the key in the signature, which is not checked
	converters.Description
	Skipped map[string]int64 `json:"skipped,omitempty"`
	Choice  *choose.Options  `json:"choice,omitempty"`      // of samples, when they were converted; nil: all
	LeftOut map[string]int64 `json:"left_out_by,omitempty"` // samples that were not chosen, by option
	terminal.NotWhole
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
	x.Choice, x.LeftOut, x.NotWhole = m.Choice, m.Totals.LeftOutBy, terminal.NewNotWhole(m)
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
	x.Root = m.Root
	_, text, err := dataset.ReadSigned(dir)
	if err != nil || text == nil {
		return err
	}
	if x.SignedBy, err = signature.Read(text); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, dataset.SignatureName), err)
	}
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

func (x *content) print(w io.Writer) error {
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
		row("skipped", "%s", text.Line(terminal.SkippedText(x.Skipped)))
	}
	if x.Choice != nil {
		row("chosen by", "%s", text.Line(x.Choice.String()))
	}
	if len(x.LeftOut) > 0 {
		row("left out", "%s", text.Line(terminal.LeftOutText(x.LeftOut)))
	}
	if x.NotWhole.Fields > 0 {
		row("not whole", "%s: %s", terminal.Counted(x.NotWhole.Fields, "field"), text.Line(x.NotWhole.Text()))
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
