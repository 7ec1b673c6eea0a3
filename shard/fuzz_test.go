package shard

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/fuzz"
)

// FuzzReadPlan hands arbitrary files to ReadPlan, as they are and with the right digest:
// what is accepted has runs that lie inside their parts, and is written again to a file
// that reads as the same plan, with the same digest. Allocations are bounded.
func FuzzReadPlan(f *testing.F) {
	for _, opts := range []Options{
		{Sizes: Sizes{Shards: 2}},
		{Sizes: Sizes{Shards: 3}, Shuffle: &Shuffle{9}, Source: SourceSpec{Format: "tar", Options: map[string]string{"x": "y"}}},
	} {
		var file bytes.Buffer
		if _, err := newPlan(f, newFixture(1, 2, 3, 10), encode.Options{Rename: []string{"a=bin"}}, opts).Write(&file); err != nil {
			f.Fatal(err)
		}
		f.Add(file.Bytes())
	}
	var file bytes.Buffer
	if _, err := newWholePlan(f, newFixture(1, 3, 3, 10), Options{Sizes: Sizes{Shards: 2}}).Write(&file); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		wantPlan(t, data)
		wantPlan(t, sealed(data))
	})
}

// sealed is a plan file with the CRCs, the table and the foot that it should have, as far as
// its lines are those of a plan: no mutation gets past a SHA-256.
func sealed(data []byte) []byte {
	lines := bytes.SplitAfter(data, []byte{'\n'})
	next := 0
	p, err := readPlan(func(v any) error {
		if next == len(lines) {
			return io.ErrUnexpectedEOF
		}
		_, text, _ := bytes.Cut(lines[next], []byte{' '})
		next++
		return decodeStrictly(text, v)
	})
	if err != nil {
		return data
	}
	p.Columns = p.columns()
	var b bytes.Buffer
	if _, err := p.Write(&b); err != nil {
		return data
	}
	return b.Bytes()
}

func wantPlan(t *testing.T, data []byte) {
	var p *Plan
	var err error
	fuzz.WantAllocated(t, 1<<20+500*len(data), func() { p, err = ReadPlan(bytes.NewReader(data)) })
	if err != nil {
		if strings.ContainsAny(err.Error(), "\x1b") {
			t.Fatalf("refused with %q", err)
		}
		return
	}
	next := 0
	for _, s := range p.Shards {
		if p.Whole {
			if s.First != next || s.Parts < 1 || s.First+s.Parts > len(p.Parts) || filepath.Base(s.Name) != s.Name {
				t.Fatalf("shard %+v of %d parts", s, len(p.Parts))
			}
			next += s.Parts
			continue
		}
		found := int64(0)
		for _, r := range s.Runs {
			part := p.Parts[r.Part]
			if r.Count < 1 || r.First < 0 || r.Off < 0 || r.Off > part.Size || uint64(r.First)+uint64(r.Count) > uint64(part.Account.Samples) {
				t.Fatalf("run %+v of a part of %d samples, %d bytes", r, part.Account.Samples, part.Size)
			}
			found += r.Count
		}
		if s.Samples < 1 || s.Samples > found || filepath.Base(s.Name) != s.Name {
			t.Fatalf("shard %+v", s)
		}
	}
	var first, second bytes.Buffer
	digest, err := p.Write(&first)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadPlan(bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatalf("written again it is refused: %v", err)
	}
	if d, err := again.Write(&second); err != nil || d != digest || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Fatalf("digest %s became %s, %v:\n%s%s", digest, d, err, &first, &second)
	}
	if !reflect.DeepEqual(p.Shards, again.Shards) || len(p.Parts) != len(again.Parts) {
		t.Fatalf("%+v became %+v", p.Shards, again.Shards)
	}
}

// FuzzIndexed hands arbitrary files to the reader of what tasks have indexed, as they are and with
// the right CRCs: what is accepted lies inside its part, in order, and is written again to a file
// that reads the same. Allocations are bounded.
func FuzzIndexed(f *testing.F) {
	data, found := indexedFile(f, 8, 3, 12)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		wantIndexed(t, data, found)
		wantIndexed(t, withCRCs(data), found)
	})
}

// withCRCs are lines with the CRCs that they should have: hardly a mutation gets past them.
func withCRCs(data []byte) []byte {
	var lines []byte
	for line := range bytes.Lines(data) {
		_, text, _ := bytes.Cut(bytes.TrimSuffix(line, []byte{'\n'}), []byte{' '})
		lines = appendLine(lines, text)
	}
	return lines
}

func wantIndexed(t *testing.T, data []byte, found []Found) {
	var parts map[int]PartIndex
	var err error
	fuzz.WantAllocated(t, 1<<20+500*len(data), func() { parts, err = readBack(data, found) })
	if err != nil && strings.ContainsAny(err.Error(), "\x1b\n") {
		t.Fatalf("refused with %q", err)
	}
	for i, p := range parts {
		last, sum, largest := int64(0), int64(0), int64(0)
		for n, cost := range p.costs(0, p.n) {
			off, _ := p.at(n)
			if off < last || off > p.Size || cost < 0 {
				t.Fatalf("part %d: sample %d at %d of %d costs %d", i, n, off, p.Size, cost)
			}
			last, sum, largest = off, sum+cost, max(largest, cost)
		}
		if p.Name != found[i].Name || int64(p.n) != p.Account.Samples || sum != p.cost || largest != p.largest || p.written(0, p.n) != p.Account.Written() {
			t.Fatalf("part %d: %+v with %d samples that cost %d", i, p.Part, p.n, p.cost)
		}
		var again bytes.Buffer
		if err := writeIndexed(&again, indexedHead{Asked: "x"}, found, []int{i}, []PartIndex{p}); err != nil {
			t.Fatal(err)
		}
		if same, err := readBack(again.Bytes(), found); err != nil || !reflect.DeepEqual(same[i], p) {
			t.Fatalf("part %d: written again it is %+v, %v", i, same[i].Part, err)
		}
	}
}

// FuzzDecodeManifest hands arbitrary files to decodeManifest, as they are and with the right
// checksum: of a manifest that is accepted, names stay in the dataset, none of them twice, a
// verifier is told of each shard, and it is written again to the same bytes. Allocations are bounded.
func FuzzDecodeManifest(f *testing.F) {
	for _, opts := range []Options{{Sizes: Sizes{Shards: 2}}, {Sizes: Sizes{Shards: 3}, Shuffle: &Shuffle{9}}} {
		src := newFixture(1, 2, 5, 10)
		dir := f.TempDir()
		if _, err := write(f, src, newPlan(f, src, encode.Options{Rename: []string{"a=bin"}}, opts), dir, WriteOptions{}); err != nil {
			f.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, ManifestName))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"ffconvert_manifest":2,"shards":[{"name":"PART_00000.ffr","samples":1}]}`))
	f.Add([]byte(`{"ffconvert_manifest":2,"shards":[{"name":"../x.ffr"}]}`))
	f.Add([]byte(`{"ffconvert_manifest":2,"created":"2026-01-02T03:04:05.6+23:59","totals":{"skipped":{"fifo":-1}},"shards":[{"name":"PART_00000.ffr"},{"name":"PART_00000.ffr"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		wantManifest(t, data)
		wantManifest(t, resealed(data))
	})
}

// resealed is a manifest with the checksum that it should have, in the one way that it can be
// written, as far as its text is JSON: no mutation gets past a SHA-256.
func resealed(data []byte) []byte {
	f := manifestFile{Manifest: new(Manifest)}
	json.Unmarshal(data, &f)
	m := f.manifest()
	m.Version = manifestVersion
	m.Totals, _ = m.sums()
	data, _ = encodeManifest(m)
	return data
}

func wantManifest(t *testing.T, data []byte) {
	var m *Manifest
	var err error
	fuzz.WantAllocated(t, 1<<20+500*len(data), func() { m, err = decodeManifest(data) })
	if err != nil {
		return
	}
	seen := make(map[string]bool)
	for _, s := range m.Expect() {
		if !filepath.IsLocal(s.Name) || strings.ContainsAny(s.Name, "/\\\x00") || !strings.HasSuffix(s.Name, ".ffr") || seen[s.Name] {
			t.Fatalf("name %q", s.Name)
		}
		seen[s.Name] = true
	}
	if len(seen) != len(m.Shards) || len(seen) == 0 {
		t.Fatalf("a verifier is told of %d shards, there are %d", len(seen), len(m.Shards))
	}
	if again, err := encodeManifest(m); err != nil || !bytes.Equal(again, data) {
		t.Fatalf("%s became %s, %v", data, again, err)
	}
}
