package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A manifest file is the JSON of a Manifest, indented by two spaces, with one member more at its end: the SHA-256 of
// all bytes before the line of that member. There is one way to write a manifest; every other text is refused, so that
// a misspelt, missing, unknown or repeated member does not switch off a comparison.

// ErrManifestVersion says that a manifest is of another version of the program.
var ErrManifestVersion = place.New(place.Refused, "manifest of another version")

type manifestFile struct {
	*Manifest
	Shards  []manifestShard `json:"shards"`
	Sources []manifestPart  `json:"sources"`
	Sum     string          `json:"sha256"`
}

// An entry that is shorter than any of ours ends the decoding at once: a list of empty objects would
// take sixty times the memory that it has bytes.
type (
	manifestShard struct{ ManifestShard }
	manifestPart  struct{ plan.Part }
)

const leastEntry = 100 // bytes; the least part has 129, its spaces included

func (s *manifestShard) UnmarshalJSON(text []byte) error { return decodeEntry(text, &s.ManifestShard) }
func (p *manifestPart) UnmarshalJSON(text []byte) error  { return decodeEntry(text, &p.Part) }

func decodeEntry(text []byte, v any) error {
	if len(text) < leastEntry {
		return fmt.Errorf("an entry of %d bytes is too short", len(text))
	}
	return json.Unmarshal(text, v)
}

// sumLine is the last member of a manifest, and its end.
func sumLine(sum string) string { return "  \"sha256\": \"" + sum + "\"\n}\n" }

// sumLineOf returns the last line of a manifest after body, its other lines.
func sumLineOf(body []byte) string { return sumLine(fmt.Sprintf("%x", sha256.Sum256(body))) }

// encodeManifest returns the bytes of a manifest file.
func encodeManifest(m *Manifest) ([]byte, error) {
	f := manifestFile{Manifest: m}
	for i := range m.Shards {
		f.Shards = append(f.Shards, manifestShard{m.Shards[i]})
	}
	for i := range m.Sources {
		f.Sources = append(f.Sources, manifestPart{m.Sources[i]})
	}
	text, err := encodeJSON(f)
	if err != nil {
		return nil, err
	}
	body := bytes.TrimSuffix(text, []byte(sumLine("")))
	return append(body, sumLineOf(body)...), nil
}

// DecodeManifest reads a manifest, which may be hostile: allocations are in proportion to its size.
func DecodeManifest(data []byte) (*Manifest, error) {
	if err := manifestVersionOf(data); err != nil {
		return nil, err
	}
	body := data[:max(0, len(data)-len(sumLineOf(nil)))]
	if string(data[len(body):]) != sumLineOf(body) {
		return nil, errors.New("it differs from its checksum, or is cut")
	}
	f := manifestFile{Manifest: new(Manifest)}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, checksum.Words(err)
	}
	m := f.manifest()
	if m.Version != m.version() {
		return nil, fmt.Errorf("it says version %d and has the members of version %d", m.Version, m.version())
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	if same, err := encodeManifest(m); err != nil || !bytes.Equal(same, data) {
		return nil, errors.New("a member is missing, unknown, misspelt, or there twice")
	}
	return m, nil
}

func (f *manifestFile) manifest() *Manifest {
	m := f.Manifest
	for i := range f.Shards {
		m.Shards = append(m.Shards, f.Shards[i].ManifestShard)
	}
	for i := range f.Sources {
		m.Sources = append(m.Sources, f.Sources[i].Part)
	}
	return m
}

// manifestVersionOf refuses a manifest if its first member states another version.
func manifestVersionOf(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.Token()
	key, _ := dec.Token()
	version, _ := dec.Token()
	if n, ok := version.(float64); ok && key == "ffconvert_manifest" && (n < manifestVersion || n > wholeVersion || n != math.Trunc(n)) {
		return fmt.Errorf("%w: it is of version %v, this program reads %d to %d", ErrManifestVersion, n, manifestVersion, wholeVersion)
	}
	return nil
}

// ReadManifest reads the manifest of a dataset. Names in it are local: they cannot lead out of the
// directory. One that is damaged is [ErrManifest], one of another version [ErrManifestVersion].
func ReadManifest(dir string) (*Manifest, error) {
	return ReadManifestFile(filepath.Join(dir, ManifestName))
}

// ReadManifestFile is [ReadManifest] of a file of any name.
func ReadManifestFile(path string) (*Manifest, error) {
	data, err := readKept(nil, path)
	if err != nil {
		return nil, err
	}
	return ParseManifest(path, data)
}

// ReadShards is [ReadManifest] for readers of single samples: it leaves Sources out, which take 15 microseconds each to
// decode and compare. The SHA-256 is compared, and shards are checked; the totals are not compared with them.
func ReadShards(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestName)
	data, err := readKept(nil, path)
	if err != nil {
		return nil, err
	}
	if m, err := decodeShards(data); err == nil {
		return m, nil
	}
	return ParseManifest(path, data) // which returns the reason
}

var errShards = errors.New("not the text of a manifest")

func decodeShards(data []byte) (*Manifest, error) {
	head, _, ok := bytes.Cut(data, []byte(sourcesLine))
	body := data[:max(0, len(data)-len(sumLineOf(nil)))]
	if !ok || manifestVersionOf(data) != nil || string(data[len(body):]) != sumLineOf(body) {
		return nil, errShards
	}
	f := manifestFile{Manifest: new(Manifest)}
	if err := json.Unmarshal(slices.Concat(head, []byte("\n}")), &f); err != nil {
		return nil, err
	}
	m := f.manifest()
	_, err := m.sumShards()
	return m, err
}

// sourcesLine begins the last member but one of a manifest. No string in JSON has a line break.
const sourcesLine = ",\n  \"sources\": "

// Manifest reads the manifest, nil where there is none.
func (d *Dataset) Manifest() (*Manifest, error) {
	data, err := readKept(d.Root, ManifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return ParseManifest(d.At(ManifestName), data)
}

// ParseManifest is [ReadManifest] of the bytes of a file.
func ParseManifest(path string, data []byte) (*Manifest, error) {
	m, err := DecodeManifest(data)
	switch {
	case errors.Is(err, ErrManifestVersion):
		return nil, &place.Error{Where: path, Off: -1, Err: err, Hint: "run the ffconvert that made it, or convert anew with option overwrite"}
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %w", path, ErrManifest, err)
	}
	return m, nil
}
