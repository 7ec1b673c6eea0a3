package shard

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/record"
)

func TestWriteIsTheSameForAllWorkers(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]Options{
		"in order": fourShards,
		"shuffled": {Sizes: Sizes{Shards: 4}, Shuffle: &Shuffle{5}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := newFixture(2, 3, 200, 5000)
			plan := newPlan(t, src, encode.Options{}, opts)
			var want map[string]string
			for _, workers := range []int{1, 2, 16} {
				dir := t.TempDir()
				report, err := write(t, src, plan, dir, WriteOptions{Workers: workers})
				if err != nil {
					t.Fatal(err)
				}
				if !report.Verified || report.Manifest.Totals.SamplesWritten != 600 || report.Kept != 0 {
					t.Errorf("report %+v", report)
				}
				got := files(t, dir)
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
	src := newFixture(3, 2, 100, 300)
	plan := newPlan(t, src, encode.Options{Encoding: "raw:cls", Missing: encode.MissingSkip}, fourShards)
	dir := t.TempDir()
	report, err := write(t, src, plan, dir, WriteOptions{})
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
	for _, part := range src.parts {
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
	keys, err := IndexKeys(filepath.Join(dir, "PART_00000.ffr"), 5)
	if err != nil || strings.Join(keys, " ") != "0/000000 0/000001 0/000002 0/000003 0/000005" {
		t.Errorf("keys %q, %v", keys, err)
	}
}

func TestWriteResumes(t *testing.T) {
	t.Parallel()
	src := newFixture(5, 3, 100, 2000)
	plan := newPlan(t, src, encode.Options{}, fourShards)
	reference := t.TempDir()
	if _, err := write(t, src, plan, reference, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	want := files(t, reference)
	for _, row := range []struct {
		name string
		harm func(t *testing.T, dir string) // done to a finished dataset
		kept int
	}{
		{"nothing", func(*testing.T, string) {}, 4},
		{"manifest gone", func(t *testing.T, dir string) { remove(t, dir, ManifestName) }, 4},
		{"shard gone", func(t *testing.T, dir string) { remove(t, dir, "PART_00002.ffr") }, 3},
		{"shard cut", func(t *testing.T, dir string) { truncate(t, dir, "PART_00001.ffr", -1) }, 3},
		{"shard grown", func(t *testing.T, dir string) { truncate(t, dir, "PART_00001.ffr", 1) }, 3},
		{"header damaged", func(t *testing.T, dir string) { flip(t, dir, "PART_00003.ffr", 20) }, 3},
		{"index gone", func(t *testing.T, dir string) { remove(t, dir, "index/PART_00000.arrow") }, 3},
		{"journal gone", func(t *testing.T, dir string) { remove(t, dir, journalName) }, 0},
		{"journal cut", func(t *testing.T, dir string) { truncate(t, dir, journalName, -1) }, 3},
		{"journal head damaged", func(t *testing.T, dir string) { flip(t, dir, journalName, 12) }, 0},
		{"leftover in tmp", func(t *testing.T, dir string) {
			mkdir(t, dir, tmpDir)
			put(t, dir, tmpDir+"/PART_00000.ffr.tmp")
		}, 4},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(reference)); err != nil {
				t.Fatal(err)
			}
			row.harm(t, dir)
			report, err := write(t, src, plan, dir, WriteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if report.Kept != row.kept {
				t.Errorf("kept %d shards, want %d", report.Kept, row.kept)
			}
			if !maps.Equal(files(t, dir), want) {
				t.Error("the resumed dataset has other bytes")
			}
			if _, err := ReadManifest(dir); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(dir, tmpDir)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("temporary files are left: %v", err)
			}
		})
	}
}

// However many samples were read before an error, nothing unfinished has a final name,
// and the next run completes the same dataset.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	src := newFixture(6, 2, 12, 400)
	plan := newPlan(t, src, encode.Options{}, fourShards)
	reference := t.TempDir()
	if _, err := write(t, src, plan, reference, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	want := files(t, reference)
	broken := errors.New("broken")
	for fault := 0; ; fault++ {
		reads := 0
		src.fail = func(int, int64) error {
			if reads++; reads == fault+1 {
				return broken
			}
			return nil
		}
		dir := t.TempDir()
		_, err := write(t, src, plan, dir, WriteOptions{Workers: 1})
		if err == nil {
			if fault != 24 {
				t.Errorf("%d faults were injected, want one a sample: 24", fault)
			}
			break
		}
		if !errors.Is(err, broken) {
			t.Fatalf("fault %d: reported as %v", fault, err)
		}
		for name, data := range files(t, dir) {
			if want[name] != data {
				t.Fatalf("fault %d left a bad %s", fault, name)
			}
		}
		if _, err := ReadManifest(dir); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("fault %d left a manifest", fault)
		}
		src.fail = nil
		if _, err := write(t, src, plan, dir, WriteOptions{}); err != nil || !maps.Equal(files(t, dir), want) {
			t.Fatalf("fault %d: the rerun gave %v or other bytes", fault, err)
		}
	}
}

func TestWriteRefusesChangedSources(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*fixture){
		"shorter part":  func(f *fixture) { f.parts[1] = f.parts[1][:30] },
		"larger sample": func(f *fixture) { f.parts[0][3].Fields[0].Value = converters.Bytes(make([]byte, 999)) },
		"missing field": func(f *fixture) { f.parts[0][3].Fields = f.parts[0][3].Fields[:1] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := newFixture(7, 2, 50, 400)
			plan := newPlan(t, src, encode.Options{}, fourShards)
			change(src)
			dir := t.TempDir()
			if _, err := write(t, src, plan, dir, WriteOptions{}); !errors.Is(err, converters.ErrChanged) {
				t.Errorf("error %v, want %v", err, converters.ErrChanged)
			}
			if _, err := ReadManifest(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("there is a manifest: %v", err)
			}
		})
	}
}

func TestWriteCancelled(t *testing.T) {
	t.Parallel()
	src := newFixture(10, 1, 20, 100)
	plan := newPlan(t, src, encode.Options{}, fourShards)
	ctx, cancel := context.WithCancel(context.Background())
	src.fail = func(_ int, i int64) error {
		if i == 9 {
			cancel()
		}
		return nil
	}
	out, err := OpenOutput(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := Write(ctx, src, plan, out, WriteOptions{Workers: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
