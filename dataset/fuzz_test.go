package dataset

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/fuzz"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

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

func wantIndexed(t *testing.T, data []byte, found []converters.Part) {
	var parts map[int]plan.PartIndex
	var err error
	fuzz.WantAllocated(t, 1<<20+500*len(data), func() { parts, err = readBack(data, found) })
	if err != nil && strings.ContainsAny(err.Error(), "\x1b\n") {
		t.Fatalf("refused with %q", err)
	}
	for i, p := range parts {
		last, sum, largest := int64(0), int64(0), int64(0)
		for n, cost := range p.Costs(0, p.N) {
			off, _ := p.At(n)
			if off < last || off > p.Size || cost < 0 {
				t.Fatalf("part %d: sample %d at %d of %d costs %d", i, n, off, p.Size, cost)
			}
			last, sum, largest = off, sum+cost, max(largest, cost)
		}
		if p.Name != found[i].Name || int64(p.N) != p.Account.Samples || sum != p.Cost || largest != p.Largest || p.Written(0, p.N) != p.Account.Written() {
			t.Fatalf("part %d: %+v with %d samples that cost %d", i, p.Part, p.N, p.Cost)
		}
		var again bytes.Buffer
		if err := writeIndexed(&again, indexedHead{Asked: "x"}, found, map[int]plan.PartIndex{i: p}); err != nil {
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
	for _, shards := range []int{2, 3} {
		f.Add(manifestOf(f, shards))
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
	m.Version = m.version()
	m.Totals, _ = m.sums()
	data, _ = encodeManifest(m)
	return data
}

func wantManifest(t *testing.T, data []byte) {
	var m *Manifest
	var err error
	fuzz.WantAllocated(t, 1<<20+500*len(data), func() { m, err = DecodeManifest(data) })
	short, shortErr := decodeShards(data)
	if shortErr == nil && (len(short.Shards) == 0 || len(short.Sources) > 0 && err == nil) {
		t.Fatalf("%+v", short)
	}
	if err != nil {
		return
	}
	if shortErr != nil || !reflect.DeepEqual(short.Shards, m.Shards) || !reflect.DeepEqual(short.Encode, m.Encode) || !reflect.DeepEqual(short.Encodes, m.Encodes) {
		t.Fatalf("its shards are %+v, not %+v: %v", short, m, shortErr)
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

// manifestOf returns the manifest of a dataset of so many shards, none of which was written.
func manifestOf(t testing.TB, shards int) []byte {
	p := &plan.Plan{Recipe: plan.Recipe{Source: plan.SourceSpec{Format: "memory"}, Encode: encode.Options{Encoding: "msgpack", Rename: []string{"a=bin"}}}}
	p.Parts = []plan.Part{{Name: "a", Size: 100 * int64(shards), Account: plan.Account{Entries: 5 * int64(shards), Samples: 5 * int64(shards), Fields: 5 * int64(shards)}}}
	j := newJournal(nil)
	j.head.Plan = strings.Repeat("0", 64)
	for i := range shards {
		s := ManifestShard{Name: record.Name(i, shards), Samples: 5, Fields: 5, Bytes: record.FileSize(5, 100), HeaderCRC: 7, Index: FileSum{Bytes: 10, CRC: 3}}
		p.Shards = append(p.Shards, plan.Shard{Name: s.Name})
		j.Done[s.Name] = Finished{ManifestShard: s, Verified: true, From: "device"}
	}
	m := newManifest(p, j, "test")
	m.Meta = FileSum{Bytes: 1}
	if err := m.check(); err != nil {
		t.Fatal(err)
	}
	data, err := encodeManifest(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// withCRCs returns the lines with the CRCs that they should have: hardly a mutation gets past them.
func withCRCs(data []byte) []byte {
	var lines []byte
	for line := range bytes.Lines(data) {
		_, text, _ := bytes.Cut(bytes.TrimSuffix(line, []byte{'\n'}), []byte{' '})
		lines = checksum.AppendLine(lines, text)
	}
	return lines
}
