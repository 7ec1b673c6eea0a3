package write_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

func TestWriteIsTheSameForAllWorkers(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]plan.Options{
		"in order": shardtest.FourShards,
		"shuffled": {Sizes: plan.Sizes{Shards: 4}, Recipe: plan.Recipe{Shuffle: &plan.Shuffle{Seed: 5}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := memsource.New(2, 3, 200, 5000)
			plan := shardtest.NewPlan(t, src, encode.Options{}, opts)
			var want map[string]string
			for _, workers := range []int{1, 2, 16} {
				dir := t.TempDir()
				report, err := shardtest.Write(t, src, plan, dir, write.Options{Workers: workers})
				if err != nil {
					t.Fatal(err)
				}
				if !report.Verified || report.Manifest.Totals.SamplesWritten != 600 || report.Kept != 0 {
					t.Errorf("report %+v", report)
				}
				got := shardtest.Files(t, dir)
				if len(got) != 8 {
					t.Fatalf("%d files, want 4 shards and 4 indexes", len(got))
				}
				if want == nil {
					want = got
				}
				if !maps.Equal(got, want) {
					t.Errorf("%d workers wrote other bytes than 1", workers)
				}
			}
		})
	}
}

// Every record of a dataset is that of its sample, in plan order.
func TestWriteRecords(t *testing.T) {
	t.Parallel()
	src := memsource.New(3, 2, 100, 300)
	plan := shardtest.NewPlan(t, src, encode.Options{Encoding: "raw:cls", Missing: encode.MissingSkip}, shardtest.FourShards)
	dir := t.TempDir()
	report, err := shardtest.Write(t, src, plan, dir, write.Options{})
	if err != nil {
		t.Fatal(err)
	}
	totals := report.Manifest.Totals
	if totals.SamplesWritten != 160 || totals.SamplesLeftOut != 40 || totals.FieldsWritten != 160 || totals.FieldsLeftOut != 200 {
		t.Errorf("totals %+v", totals)
	}
	r, err := record.Open(dir, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	i := 0
	for _, part := range src.Data {
		for j := range part {
			want, ok := part[j].Field("cls")
			if !ok {
				continue
			}
			got, err := r.Read(i, nil)
			if err != nil || !bytes.Equal(got, want.Data()) {
				t.Fatalf("record %d is %q, %v; want %q", i, got, err, want.Data())
			}
			i++
		}
	}
	if i != r.Len() {
		t.Errorf("%d records, want %d", r.Len(), i)
	}
	if keys := shardtest.ReadIndex(t, dir, "PART_00000.ffr").Keys; strings.Join(keys[:5], " ") != "0/000000 0/000001 0/000002 0/000003 0/000005" {
		t.Errorf("keys %q", keys)
	}
}

func TestWriteResumes(t *testing.T) {
	t.Parallel()
	src := memsource.New(5, 3, 100, 2000)
	plan := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	reference := t.TempDir()
	if _, err := shardtest.Write(t, src, plan, reference, write.Options{}); err != nil {
		t.Fatal(err)
	}
	want := shardtest.Files(t, reference)
	for _, row := range []struct {
		name string
		harm func(t *testing.T, dir string) // done to a finished dataset
		kept int
	}{
		{"nothing", func(*testing.T, string) {}, 4},
		{"manifest gone", func(t *testing.T, dir string) { shardtest.Remove(t, dir, dataset.ManifestName) }, 4},
		{"shard gone", func(t *testing.T, dir string) { shardtest.Remove(t, dir, "PART_00002.ffr") }, 3},
		{"shard cut", func(t *testing.T, dir string) { shardtest.Truncate(t, dir, "PART_00001.ffr", -1) }, 3},
		{"shard grown", func(t *testing.T, dir string) { shardtest.Truncate(t, dir, "PART_00001.ffr", 1) }, 3},
		{"header damaged", func(t *testing.T, dir string) { shardtest.Flip(t, dir, "PART_00003.ffr", 20) }, 3},
		{"index gone", func(t *testing.T, dir string) { shardtest.Remove(t, dir, "index/PART_00000.arrow") }, 3},
		{"journal gone", func(t *testing.T, dir string) { shardtest.Remove(t, dir, dataset.JournalName) }, 0},
		{"journal cut", func(t *testing.T, dir string) { shardtest.Truncate(t, dir, dataset.JournalName, -1) }, 3},
		{"journal head damaged", func(t *testing.T, dir string) { shardtest.Flip(t, dir, dataset.JournalName, 12) }, 0},
		{"leftover in tmp", func(t *testing.T, dir string) {
			shardtest.Mkdir(t, dir, dataset.TmpDir)
			shardtest.Put(t, dir, dataset.TmpDir+"/PART_00000.ffr.tmp")
		}, 4},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(reference)); err != nil {
				t.Fatal(err)
			}
			row.harm(t, dir)
			report, err := shardtest.Write(t, src, plan, dir, write.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if report.Kept != row.kept {
				t.Errorf("kept %d shards, want %d", report.Kept, row.kept)
			}
			if !maps.Equal(shardtest.Files(t, dir), want) {
				t.Error("the resumed dataset has other bytes")
			}
			if _, err := dataset.ReadManifest(dir); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(dir, dataset.TmpDir)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("temporary files are left: %v", err)
			}
		})
	}
}

// However many samples were read before an error, nothing unfinished has a final name,
// and the next run completes the same dataset.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	need.Time(t, "an error of each write")
	src := memsource.New(6, 2, 12, 400)
	plan := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	reference := t.TempDir()
	if _, err := shardtest.Write(t, src, plan, reference, write.Options{}); err != nil {
		t.Fatal(err)
	}
	want := shardtest.Files(t, reference)
	broken := errors.New("broken")
	for fault := 0; ; fault++ {
		reads := 0
		src.Fail = func(int, int64) error {
			if reads++; reads == fault+1 {
				return broken
			}
			return nil
		}
		dir := t.TempDir()
		_, err := shardtest.Write(t, src, plan, dir, write.Options{Workers: 1})
		if err == nil {
			if fault != 24 {
				t.Errorf("%d faults were injected, want one a sample: 24", fault)
			}
			break
		}
		if !errors.Is(err, broken) {
			t.Fatalf("fault %d: reported as %v", fault, err)
		}
		for name, data := range shardtest.Files(t, dir) {
			if want[name] != data {
				t.Fatalf("fault %d left a bad %s", fault, name)
			}
		}
		if _, err := dataset.ReadManifest(dir); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("fault %d left a manifest", fault)
		}
		src.Fail = nil
		if _, err := shardtest.Write(t, src, plan, dir, write.Options{}); err != nil || !maps.Equal(shardtest.Files(t, dir), want) {
			t.Fatalf("fault %d: the rerun gave %v or other bytes", fault, err)
		}
	}
}

func TestWriteRefusesChangedSources(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*memsource.Source){
		"shorter part":  func(f *memsource.Source) { f.Data[1] = f.Data[1][:30] },
		"larger sample": func(f *memsource.Source) { f.Data[0][3].Fields[0].Value = converters.Bytes(make([]byte, 999)) },
		"missing field": func(f *memsource.Source) { f.Data[0][3].Fields = f.Data[0][3].Fields[:1] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := memsource.New(7, 2, 50, 400)
			plan := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
			change(src)
			dir := t.TempDir()
			_, err := shardtest.Write(t, src, plan, dir, write.Options{})
			if at, ok := errors.AsType[*converters.Error](err); !errors.Is(err, converters.ErrChanged) || !ok || !strings.HasPrefix(at.Where, "part-") {
				t.Errorf("error %v, want %v of a part", err, converters.ErrChanged)
			}
			if _, err := dataset.ReadManifest(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("there is a manifest: %v", err)
			}
		})
	}
}

// onDisk is a source whose parts are files.
type onDisk struct {
	*memsource.Source
	parts []converters.Part
}

func (o *onDisk) Parts() []converters.Part { return o.parts }

// Of the sources of a shard whose samples have changed, the one is named whose file has.
func TestWriteNamesChangedSource(t *testing.T) {
	t.Parallel()
	src := &onDisk{Source: memsource.New(7, 4, 10, 400)}
	for _, p := range src.Source.Parts() {
		p.Path = filepath.Join(t.TempDir(), p.Name)
		if err := os.WriteFile(p.Path, make([]byte, p.Size), 0o600); err != nil {
			t.Fatal(err)
		}
		src.parts = append(src.parts, p)
	}
	plan := shardtest.NewPlan(t, src, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 1}})
	src.Data[2] = src.Data[2][:9]
	for _, row := range []struct {
		size int64
		want string
	}{
		{10, "part-0: changed since it was indexed: it or 3 other sources: 39 of the 40 samples that were indexed for PART_00000.ffr are left (option overwrite starts anew)"},
		{7, "part-2: changed since it was indexed: it had 10 bytes, it has 7"},
	} {
		if err := os.Truncate(src.parts[2].Path, row.size); err != nil {
			t.Fatal(err)
		}
		_, err := shardtest.Write(t, src, plan, t.TempDir(), write.Options{})
		if u, ok := errors.AsType[*write.Unfinished](err); !ok || u.Err.Error() != row.want {
			t.Errorf("error %v, want %s", err, row.want)
		}
	}
}

func TestWriteCancelled(t *testing.T) {
	t.Parallel()
	src := memsource.New(10, 1, 20, 100)
	plan := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	ctx, cancel := context.WithCancel(context.Background())
	src.Fail = func(_ int, i int64) error {
		if i == 9 {
			cancel()
		}
		return nil
	}
	out, err := dataset.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := write.All(ctx, write.Local(src), plan, out, write.Options{Workers: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
