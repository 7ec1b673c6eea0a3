package write_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
)

func TestRepair(t *testing.T) {
	t.Parallel()
	need.Time(t, "many repairs")
	src := memsource.New(11, 3, 100, 2000)
	plan := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	reference := t.TempDir()
	if _, err := shardtest.Write(t, src, plan, reference, write.Options{}); err != nil {
		t.Fatal(err)
	}
	want := shardtest.Everything(t, reference)
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
		{"a bit of a sample", func(t *testing.T, dir string) { shardtest.Flip(t, dir, b, 3000) }, []string{b}, 3},
		{"a bit of a header", func(t *testing.T, dir string) { shardtest.Flip(t, dir, a, 5) }, []string{a}, 3},
		{"missing", func(t *testing.T, dir string) { shardtest.Remove(t, dir, c) }, []string{c}, 3},
		{"cut", func(t *testing.T, dir string) { shardtest.Truncate(t, dir, d, -100) }, []string{d}, 3},
		{"swapped", func(t *testing.T, dir string) { swap(t, dir, a, d) }, []string{a, d}, 2},
		{"all of them", func(t *testing.T, dir string) {
			for _, name := range []string{a, b, c, d} {
				shardtest.Truncate(t, dir, name, 1)
			}
		}, []string{a, b, c, d}, 0},
		{"index missing", func(t *testing.T, dir string) { shardtest.Remove(t, dir, dataset.IndexName(a)) }, []string{a}, 3},
		{"index damaged", func(t *testing.T, dir string) { shardtest.Flip(t, dir, dataset.IndexName(b), 300) }, []string{b}, 3},
		{"meta.json damaged", func(t *testing.T, dir string) { shardtest.Flip(t, dir, dataset.MetaName, 3) }, nil, 4},
		{"meta.json missing", func(t *testing.T, dir string) { shardtest.Remove(t, dir, dataset.MetaName) }, nil, 4},
		{"manifest missing", func(t *testing.T, dir string) { shardtest.Remove(t, dir, dataset.ManifestName) }, nil, 4},
		{"manifest damaged", func(t *testing.T, dir string) { shardtest.Flip(t, dir, dataset.ManifestName, 0) }, nil, 4},
		{"manifest with another checksum", func(t *testing.T, dir string) {
			shardtest.Edit(t, dir, dataset.ManifestName, `"header_crc32": `, `"header_crc32": 1`)
			data, err := os.ReadFile(filepath.Join(dir, dataset.ManifestName))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, dataset.ManifestName), shardtest.WithSum(shardtest.WithoutSum(string(data))), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, nil, 4},
		{"journal missing", func(t *testing.T, dir string) { shardtest.Remove(t, dir, dataset.JournalName) }, nil, 4},
		{"journal cut, and a shard damaged", func(t *testing.T, dir string) {
			shardtest.Truncate(t, dir, dataset.JournalName, -1)
			shardtest.Flip(t, dir, b, 3000)
		}, []string{b}, 3},
		{"journal and manifest missing", func(t *testing.T, dir string) {
			shardtest.Remove(t, dir, dataset.JournalName)
			shardtest.Remove(t, dir, dataset.ManifestName)
		}, nil, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(reference)); err != nil {
				t.Fatal(err)
			}
			row.harm(t, dir)
			damaged, report, err := shardtest.Repair(t, src, dir)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(damaged, row.damaged) || report.Kept != row.kept {
				t.Errorf("damaged %q, %d kept; want %q, %d", damaged, report.Kept, row.damaged, row.kept)
			}
			if got := shardtest.Everything(t, dir); !maps.Equal(got, want) {
				t.Error("the repaired dataset has other bytes")
			}
			if damaged, _, err := shardtest.Repair(t, src, dir); err != nil || damaged != nil {
				t.Errorf("repaired once more: %q, %v", damaged, err)
			}
		})
	}
}

// Shards that were written without verification are not written anew for that.
func TestRepairUnverified(t *testing.T) {
	t.Parallel()
	src := memsource.New(15, 2, 50, 2000)
	dir := shardtest.Dataset(src, shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards))(t)
	want := shardtest.Everything(t, dir)
	shardtest.Flip(t, dir, "PART_00002.ffr", 8000)
	_, report, err := shardtest.Repair(t, src, dir)
	if err != nil || report.Kept != 3 || !report.Verified || report.Manifest.Verified {
		t.Errorf("%+v, %v", report, err)
	}
	if !maps.Equal(shardtest.Everything(t, dir), want) {
		t.Error("the repaired dataset has other bytes")
	}
}

// A source that gives other bytes than those that were written is refused, and what is
// damaged stays as it is, known as damaged to the next run of either command.
func TestRepairRefuses(t *testing.T) {
	t.Parallel()
	src := memsource.New(12, 2, 50, 2000)
	p := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	dir := t.TempDir()
	if _, err := shardtest.Write(t, src, p, dir, write.Options{}); err != nil {
		t.Fatal(err)
	}
	sound := shardtest.Everything(t, dir)
	shardtest.Flip(t, dir, "PART_00001.ffr", 9000)
	before := shardtest.Everything(t, dir)
	for name, other := range map[string]*memsource.Source{
		"a part less":       memsource.New(12, 1, 50, 2000),
		"other samples":     memsource.New(13, 2, 50, 2000),
		"one other byte":    memsource.New(12, 2, 50, 2000),
		"cut in the middle": memsource.New(12, 2, 50, 2000),
	} {
		switch name {
		case "one other byte":
			for i := range other.Data[0] {
				data := slices.Clone(other.Data[0][i].Fields[0].Value.Data())
				if len(data) > 0 {
					data[0] ^= 1
				}
				other.Data[0][i].Fields[0].Value = converters.Bytes(data)
			}
		case "cut in the middle":
			other.Data[0] = other.Data[0][:30]
		}
		damaged, _, err := shardtest.Repair(t, other, dir)
		if !errors.Is(err, converters.ErrChanged) || !slices.Equal(damaged, []string{"PART_00001.ffr"}) {
			t.Errorf("%s: damaged %q, %v", name, damaged, err)
		}
		if !maps.Equal(shardtest.Everything(t, dir), before) {
			t.Errorf("%s: the dataset was changed", name)
		}
	}
	// The conversion itself would have taken the damaged shard for sound by its header.
	if _, err := shardtest.Write(t, src, p, dir, write.Options{}); err != nil || !maps.Equal(shardtest.Everything(t, dir), sound) {
		t.Errorf("the same conversion after a repair that failed: %v, or other bytes", err)
	}
	shardtest.Flip(t, dir, dataset.PlanName, 40)
	if _, _, err := shardtest.Repair(t, src, dir); !errors.Is(err, plan.ErrDamaged) {
		t.Errorf("damaged plan: %v", err)
	}
	shardtest.Remove(t, dir, dataset.PlanName)
	if _, _, err := shardtest.Repair(t, src, dir); !errors.Is(err, dataset.ErrNothingKept) {
		t.Errorf("no plan: %v", err)
	}
}

// A finished conversion whose sources were modified is not complete already.
func TestWriteNamesTheChange(t *testing.T) {
	t.Parallel()
	src := memsource.New(14, 2, 50, 500)
	p := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	dir := shardtest.Dataset(src, p)(t)
	for _, row := range []struct {
		name   string
		change func(f *memsource.Source) plan.Options
		enc    encode.Options
		want   error
		says   string
	}{
		{"a sample less", func(f *memsource.Source) plan.Options { f.Data[1] = f.Data[1][:49]; return shardtest.FourShards }, encode.Options{}, converters.ErrChanged, "part-1: changed since it was indexed: it had 12628 bytes when its conversion was begun, it has 12225"},
		{"a larger sample", func(f *memsource.Source) plan.Options {
			f.Data[0][3].Fields[0].Value = converters.Bytes(make([]byte, 999))
			return shardtest.FourShards
		}, encode.Options{}, converters.ErrChanged, "part-0: changed since it was indexed: it had"},
		{"a part more", func(f *memsource.Source) plan.Options {
			f.Data = append(f.Data, f.Data[0])
			return shardtest.FourShards
		}, encode.Options{}, dataset.ErrOccupied, "2 sources, not 3"},
		{"shuffled", func(*memsource.Source) plan.Options {
			return plan.Options{Sizes: plan.Sizes{Shards: 4}, Recipe: plan.Recipe{Shuffle: &plan.Shuffle{Seed: 1}}}
		}, encode.Options{}, dataset.ErrOccupied, "without option shuffle"},
		{"fields", func(*memsource.Source) plan.Options { return shardtest.FourShards }, encode.Options{Fields: "bin"}, dataset.ErrOccupied, "with option fields="},
		{"encoding", func(*memsource.Source) plan.Options { return shardtest.FourShards }, encode.Options{Encoding: "cbor"}, dataset.ErrOccupied, "with option encode=msgpack"},
		{"a flag of the format", func(*memsource.Source) plan.Options {
			return plan.Options{Sizes: plan.Sizes{Shards: 4}, Recipe: plan.Recipe{Source: plan.SourceSpec{Options: map[string]string{"concatenated": "true"}}}}
		}, encode.Options{}, dataset.ErrOccupied, "without option concatenated"},
		{"other sizes", func(*memsource.Source) plan.Options { return plan.Options{Sizes: plan.Sizes{Shards: 5}} }, encode.Options{}, dataset.ErrOccupied, "option shards"},
	} {
		other := memsource.New(14, 2, 50, 500)
		opts := row.change(other)
		before := shardtest.Everything(t, dir)
		_, err := shardtest.Write(t, other, shardtest.NewPlan(t, other, row.enc, opts), dir, write.Options{})
		if !errors.Is(err, row.want) || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v; want %v, saying %q", row.name, err, row.want, row.says)
		}
		if !maps.Equal(shardtest.Everything(t, dir), before) {
			t.Errorf("%s: the dataset was changed", row.name)
		}
	}
}
