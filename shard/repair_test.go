package shard

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
)

func TestRepair(t *testing.T) {
	t.Parallel()
	src := newFixture(11, 3, 100, 2000)
	plan := newPlan(t, src, encode.Options{}, fourShards)
	reference := t.TempDir()
	if _, err := write(t, src, plan, reference, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	want := everything(t, reference)
	const a, b, c, d = "PART_00000.ffr", "PART_00001.ffr", "PART_00002.ffr", "PART_00003.ffr"
	swap := func(t *testing.T, dir, x, y string) {
		for _, step := range [][2]string{{x, "x"}, {y, x}, {"x", y}} {
			if err := os.Rename(filepath.Join(dir, step[0]), filepath.Join(dir, step[1])); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, row := range []struct {
		name    string
		harm    func(t *testing.T, dir string)
		damaged []string
		kept    int
	}{
		{"nothing", func(*testing.T, string) {}, nil, 4},
		{"a bit of a sample", func(t *testing.T, dir string) { flip(t, dir, b, 3000) }, []string{b}, 3},
		{"a bit of a header", func(t *testing.T, dir string) { flip(t, dir, a, 5) }, []string{a}, 3},
		{"missing", func(t *testing.T, dir string) { remove(t, dir, c) }, []string{c}, 3},
		{"cut", func(t *testing.T, dir string) { truncate(t, dir, d, -100) }, []string{d}, 3},
		{"swapped", func(t *testing.T, dir string) { swap(t, dir, a, d) }, []string{a, d}, 2},
		{"all of them", func(t *testing.T, dir string) {
			for _, name := range []string{a, b, c, d} {
				truncate(t, dir, name, 1)
			}
		}, []string{a, b, c, d}, 0},
		{"index missing", func(t *testing.T, dir string) { remove(t, dir, indexName(a)) }, []string{a}, 3},
		{"index damaged", func(t *testing.T, dir string) { flip(t, dir, indexName(b), 300) }, []string{b}, 3},
		{"meta.json damaged", func(t *testing.T, dir string) { flip(t, dir, metaName, 3) }, nil, 4},
		{"meta.json missing", func(t *testing.T, dir string) { remove(t, dir, metaName) }, nil, 4},
		{"manifest missing", func(t *testing.T, dir string) { remove(t, dir, ManifestName) }, nil, 4},
		{"manifest damaged", func(t *testing.T, dir string) { flip(t, dir, ManifestName, 0) }, nil, 4},
		{"manifest with another checksum", func(t *testing.T, dir string) {
			edit(t, dir, ManifestName, `"header_crc32": `, `"header_crc32": 1`)
			data, err := os.ReadFile(filepath.Join(dir, ManifestName))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, ManifestName), withSum(withoutSum(string(data))), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, nil, 4},
		{"journal missing", func(t *testing.T, dir string) { remove(t, dir, journalName) }, nil, 4},
		{"journal cut, and a shard damaged", func(t *testing.T, dir string) {
			truncate(t, dir, journalName, -1)
			flip(t, dir, b, 3000)
		}, []string{b}, 3},
		{"journal and manifest missing", func(t *testing.T, dir string) {
			remove(t, dir, journalName)
			remove(t, dir, ManifestName)
		}, nil, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(reference)); err != nil {
				t.Fatal(err)
			}
			row.harm(t, dir)
			damaged, report, err := repair(t, src, dir)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(damaged, row.damaged) || report.Kept != row.kept {
				t.Errorf("damaged %q, %d kept; want %q, %d", damaged, report.Kept, row.damaged, row.kept)
			}
			if got := everything(t, dir); !maps.Equal(got, want) {
				t.Error("the repaired dataset has other bytes")
			}
			if damaged, _, err := repair(t, src, dir); err != nil || damaged != nil {
				t.Errorf("repaired once more: %q, %v", damaged, err)
			}
		})
	}
}

// Shards that were written without verification are not written anew for that.
func TestRepairUnverified(t *testing.T) {
	t.Parallel()
	src := newFixture(15, 2, 50, 2000)
	dir := dataset(src, newPlan(t, src, encode.Options{}, fourShards))(t)
	want := everything(t, dir)
	flip(t, dir, "PART_00002.ffr", 8000)
	_, report, err := repair(t, src, dir)
	if err != nil || report.Kept != 3 || !report.Verified || report.Manifest.Verified {
		t.Errorf("%+v, %v", report, err)
	}
	if !maps.Equal(everything(t, dir), want) {
		t.Error("the repaired dataset has other bytes")
	}
}

// A source that gives other bytes than those that were written is refused, and what is
// damaged stays as it is, known as damaged to the next run of either command.
func TestRepairRefuses(t *testing.T) {
	t.Parallel()
	src := newFixture(12, 2, 50, 2000)
	plan := newPlan(t, src, encode.Options{}, fourShards)
	dir := t.TempDir()
	if _, err := write(t, src, plan, dir, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	sound := everything(t, dir)
	flip(t, dir, "PART_00001.ffr", 9000)
	before := everything(t, dir)
	for name, other := range map[string]*fixture{
		"a part less":       newFixture(12, 1, 50, 2000),
		"other samples":     newFixture(13, 2, 50, 2000),
		"one other byte":    newFixture(12, 2, 50, 2000),
		"cut in the middle": newFixture(12, 2, 50, 2000),
	} {
		switch name {
		case "one other byte":
			for i := range other.parts[0] {
				data := slices.Clone(other.parts[0][i].Fields[0].Value.Data())
				if len(data) > 0 {
					data[0] ^= 1
				}
				other.parts[0][i].Fields[0].Value = converters.Bytes(data)
			}
		case "cut in the middle":
			other.parts[0] = other.parts[0][:30]
		}
		damaged, _, err := repair(t, other, dir)
		if !errors.Is(err, converters.ErrChanged) || !slices.Equal(damaged, []string{"PART_00001.ffr"}) {
			t.Errorf("%s: damaged %q, %v", name, damaged, err)
		}
		if !maps.Equal(everything(t, dir), before) {
			t.Errorf("%s: the dataset was changed", name)
		}
	}
	// The conversion itself would have taken the damaged shard for sound by its header.
	if _, err := write(t, src, plan, dir, WriteOptions{}); err != nil || !maps.Equal(everything(t, dir), sound) {
		t.Errorf("the same conversion after a repair that failed: %v, or other bytes", err)
	}
	flip(t, dir, PlanName, 40)
	if _, _, err := repair(t, src, dir); !errors.Is(err, ErrPlan) {
		t.Errorf("damaged plan: %v", err)
	}
	remove(t, dir, PlanName)
	if _, _, err := repair(t, src, dir); !errors.Is(err, ErrNothingKept) {
		t.Errorf("no plan: %v", err)
	}
}

// A finished conversion whose sources were modified is not complete already.
func TestWriteNamesTheChange(t *testing.T) {
	t.Parallel()
	src := newFixture(14, 2, 50, 500)
	plan := newPlan(t, src, encode.Options{}, fourShards)
	dir := dataset(src, plan)(t)
	for _, row := range []struct {
		name   string
		change func(f *fixture) Options
		enc    encode.Options
		want   error
		says   string
	}{
		{"a sample less", func(f *fixture) Options { f.parts[1] = f.parts[1][:49]; return fourShards }, encode.Options{}, converters.ErrChanged, "part-1: changed since it was indexed: it had 12628 bytes when its conversion was begun, it has 12225"},
		{"a larger sample", func(f *fixture) Options {
			f.parts[0][3].Fields[0].Value = converters.Bytes(make([]byte, 999))
			return fourShards
		}, encode.Options{}, converters.ErrChanged, "part-0: changed since it was indexed: it had"},
		{"a part more", func(f *fixture) Options { f.parts = append(f.parts, f.parts[0]); return fourShards }, encode.Options{}, ErrOccupied, "2 sources, not 3"},
		{"shuffled", func(*fixture) Options { return Options{Sizes: Sizes{Shards: 4}, Shuffle: &Shuffle{1}} }, encode.Options{}, ErrOccupied, "without --shuffle"},
		{"fields", func(*fixture) Options { return fourShards }, encode.Options{Fields: "bin"}, ErrOccupied, "with --fields="},
		{"encoding", func(*fixture) Options { return fourShards }, encode.Options{Encoding: "cbor"}, ErrOccupied, "--encode=msgpack"},
		{"a flag of the format", func(*fixture) Options {
			return Options{Sizes: Sizes{Shards: 4}, Source: SourceSpec{Options: map[string]string{"concatenated": "true"}}}
		}, encode.Options{}, ErrOccupied, "without --concatenated"},
		{"other sizes", func(*fixture) Options { return Options{Sizes: Sizes{Shards: 5}} }, encode.Options{}, ErrOccupied, "--shards"},
	} {
		other := newFixture(14, 2, 50, 500)
		opts := row.change(other)
		before := everything(t, dir)
		_, err := write(t, other, newPlan(t, other, row.enc, opts), dir, WriteOptions{})
		if !errors.Is(err, row.want) || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v; want %v, saying %q", row.name, err, row.want, row.says)
		}
		if !maps.Equal(everything(t, dir), before) {
			t.Errorf("%s: the dataset was changed", row.name)
		}
	}
}
