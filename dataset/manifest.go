package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// A manifest with what version 2 does not know has another version, so that programs which read version 2 alone
// do not call it damaged.
const (
	manifestVersion = 2
	choiceVersion   = 3 // samples were chosen, or went through a filter, or records were encoded already
	sumsVersion     = 4 // the SHA-256 of files; the rest as in 2 and 3
	wholeVersion    = 5 // fields that are not whole; the rest as in 2 to 4
)

func (m *Manifest) version() int {
	if m.Totals.NotWhole > 0 || m.Encode.Damaged != "" || slices.ContainsFunc(m.Encodes, func(o encode.Options) bool { return o.Damaged != "" }) {
		return wholeVersion
	}
	if m.Root != "" {
		return sumsVersion
	}
	if m.Choice != nil || m.Source.Filter != "" || m.Encode.Encoded || slices.ContainsFunc(m.Encodes, func(o encode.Options) bool { return o.Encoded }) {
		return choiceVersion
	}
	return manifestVersion
}

// ErrManifest says that a manifest is damaged or was not written by this program.
var ErrManifest = place.New(place.Corrupt, "manifest is damaged")

// A Manifest accounts for a finished dataset. It is written last.
type Manifest struct {
	Version      int             `json:"ffconvert_manifest"`
	Tool         string          `json:"tool"`
	Created      time.Time       `json:"created"`
	PlanDigest   string          `json:"plan_sha256"`
	plan.Recipe                  // without Dataset, which meta.json has
	Verified     bool            `json:"verified"`                // each shard was re-read and checked
	VerifiedFrom aio.Origin      `json:"verified_from,omitempty"` // where they were re-read from; the device only if that is proven for each
	Totals       totals          `json:"totals"`
	Meta         FileSum         `json:"meta"`                  // of meta.json
	Root         string          `json:"root_sha256,omitempty"` // of the SHA-256 of all files; "": they are not known
	Shards       []ManifestShard `json:"shards"`
	Sources      []plan.Part     `json:"sources"`
}

// totals balance: samples found = written + left out.
type totals struct {
	Shards         int              `json:"shards"`
	Bytes          int64            `json:"bytes"` // of all shards
	EntriesRead    int64            `json:"entries_read"`
	EntriesSkipped int64            `json:"entries_skipped"`
	Skipped        map[string]int64 `json:"skipped,omitempty"`
	Accepted       map[string]int64 `json:"waived,omitempty"`
	SamplesFound   int64            `json:"samples_found"`
	SamplesWritten int64            `json:"samples_written"` // counted while writing
	SamplesLeftOut int64            `json:"samples_left_out"`
	LeftOutBy      map[string]int64 `json:"left_out_by,omitempty"` // samples that were not chosen, by the option that left them out
	FieldsFound    int64            `json:"fields_found"`
	FieldsWritten  int64            `json:"fields_written"` // counted while writing
	FieldsLeftOut  int64            `json:"fields_left_out"`
	NotWhole       int64            `json:"fields_not_whole,omitempty"`     // written, or inside records that are copied: pictures, sounds and films that are empty or cut
	FilterRead     int64            `json:"filter_samples,omitempty"`       // that the filter was given
	FilterDropped  int64            `json:"filter_dropped,omitempty"`       // of these
	FilterAdded    int64            `json:"filter_added,omitempty"`         // beyond one of each
	SourcesUnread  int64            `json:"sources_not_read,omitempty"`     // none of their samples was wanted any more
	SourcesPartly  int64            `json:"sources_read_in_part,omitempty"` // none from some sample on
}

// A ManifestShard identifies a shard and its index.
type ManifestShard struct {
	Name      string        `json:"name"`
	Samples   int64         `json:"samples"`
	Fields    int64         `json:"fields"`                     // of the source, in its records
	NotWhole  int64         `json:"fields_not_whole,omitempty"` // empty or cut: of these, or inside records that are copied
	FirstNot  notWholeNames `json:"first_not_whole,omitzero"`   // the first of them
	Bytes     int64         `json:"bytes"`
	HeaderCRC uint32        `json:"header_crc32"`     // pins every sample
	SHA256    string        `json:"sha256,omitempty"` // hexadecimal; "": not known
	Index     FileSum       `json:"index"`
}

// A FileSum identifies a file other than a shard.
type FileSum struct {
	Bytes  int64  `json:"bytes"`
	CRC    uint32 `json:"crc32"` // CRC-32 of all its bytes, as zlib has it
	SHA256 string `json:"sha256,omitempty"`
}

// sumOf returns the sum of a file with these bytes.
func sumOf(data []byte) FileSum {
	return FileSum{Bytes: int64(len(data)), CRC: crc32.ChecksumIEEE(data), SHA256: fmt.Sprintf("%x", sha256.Sum256(data))}
}

// newManifest makes the manifest of a plan whose shards are finished, all but what describe enters.
func newManifest(plan *plan.Plan, j *Journal, tool string) *Manifest {
	m := &Manifest{
		Tool: tool, Created: time.Now().UTC().Truncate(time.Second), PlanDigest: j.head.Plan,
		Recipe: plan.Recipe, Sources: slices.Clone(plan.Parts),
	}
	m.Dataset = converters.Description{}
	m.Verified, m.VerifiedFrom = j.verified(plan)
	for i := range m.Sources {
		m.Sources[i].Account.Seen = nil // meta.json has the sum of the whole dataset
	}
	for i := range plan.Shards {
		s := j.Done[plan.Shards[i].Name].ManifestShard
		m.Shards = append(m.Shards, s)
		m.Totals.addShard(&s)
	}
	m.Totals.setFound(plan.Account())
	return m
}

// describe enters the sum of meta.json, the root and the version.
func (m *Manifest) describe(meta FileSum) {
	m.Meta = meta
	m.setRoot()
	m.Version = m.version()
}

// Same reports whether two manifests account for the same dataset, whenever and by which version they were written.
func (m *Manifest) Same(o *Manifest) bool {
	a, b := *m, *o
	a.Created, a.Tool, a.Verified, a.VerifiedFrom = b.Created, b.Tool, b.Verified, b.VerifiedFrom
	return reflect.DeepEqual(&a, &b)
}

// Expect returns the sizes and checksums of the shards, for package verify.
func (m *Manifest) Expect() []verify.Expect { return expect(m.Shards) }

// ExpectOf is Expect of one shard; nil without a manifest, nil, and if it has no shard of the name.
func (m *Manifest) ExpectOf(name string) *verify.Expect {
	if m != nil {
		for i := range m.Shards {
			if m.Shards[i].Name == name {
				return &expect(m.Shards[i : i+1])[0]
			}
		}
	}
	return nil
}

// Sums returns the sizes and checksums of the indexes and of meta.json, for package verify.
func (m *Manifest) Sums() []verify.Sum { return sums(m.Shards, m.Meta) }

// sumsOf is Sums without the indexes of shards that are not read. nil: all are.
func (m *Manifest) sumsOf(only func(shard string) bool) []verify.Sum {
	shards := m.Shards
	if only != nil {
		shards = slices.DeleteFunc(slices.Clone(shards), func(s ManifestShard) bool { return !only(s.Name) })
	}
	return sums(shards, m.Meta)
}

func expect(shards []ManifestShard) []verify.Expect {
	want := make([]verify.Expect, len(shards))
	for i, s := range shards {
		want[i] = verify.Expect{Name: s.Name, Samples: s.Samples, Bytes: s.Bytes, HeaderCRC: s.HeaderCRC, SHA256: s.SHA256}
	}
	return want
}

// sums leaves out files without a known sum.
func sums(shards []ManifestShard, meta FileSum) []verify.Sum {
	var want []verify.Sum
	if meta != (FileSum{}) {
		want = append(want, verify.Sum{Name: MetaName, Bytes: meta.Bytes, CRC: meta.CRC, SHA256: meta.SHA256})
	}
	for _, s := range shards {
		if s.Index != (FileSum{}) {
			want = append(want, verify.Sum{Name: IndexName(s.Name), Bytes: s.Index.Bytes, CRC: s.Index.CRC, SHA256: s.Index.SHA256})
		}
	}
	return want
}

// A Meta is the content of meta.json: the description of a dataset.
type Meta struct {
	Fields plan.FieldCounts `json:"fields"` // of the samples, by name
	converters.Description
	ClassToIdx map[string]int `json:"class_to_idx,omitempty"` // the classes by name, as torchvision has them
}

// maxMeta bounds a meta.json that is read, in bytes: a million classes take about 60 MB.
const maxMeta = 256 << 20

// errMeta says that a meta.json is damaged.
var errMeta = place.New(place.Corrupt, "description is damaged")

// ReadMeta reads the meta.json of a finished dataset, and compares it with the manifest.
func ReadMeta(dir string) (*Meta, error) {
	m, err := ReadShards(dir)
	if err != nil {
		return nil, err
	}
	return m.ReadMeta(filepath.Join(dir, MetaName))
}

// ReadMeta reads the meta.json of the dataset from a file of any name, and compares it with its checksum.
func (m *Manifest) ReadMeta(path string) (*Meta, error) {
	data, err := readUpTo(nil, path, maxMeta)
	if err != nil {
		return nil, err
	}
	if is := sumOf(data); is.Bytes != m.Meta.Bytes || is.CRC != m.Meta.CRC {
		return nil, fmt.Errorf("%s: %w: its checksum is %08x, %08x by the manifest", path, errMeta, is.CRC, m.Meta.CRC)
	}
	var meta Meta
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&meta); err != nil { // an end too early is told as such
		return nil, fmt.Errorf("%s: %w: %w", path, errMeta, checksum.Words(err))
	}
	return &meta, nil
}

func newMeta(plan *plan.Plan) Meta {
	a := plan.Account()
	m := Meta{Fields: a.Seen, Description: plan.Dataset}
	if m.Classes != nil {
		m.ClassToIdx = make(map[string]int, len(m.Classes))
	}
	for i, name := range m.Classes {
		m.ClassToIdx[name] = i
	}
	return m
}
