package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

func TestWriteOccupied(t *testing.T) {
	t.Parallel()
	src := memsource.New(8, 1, 50, 400)
	p := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	other := shardtest.NewPlan(t, src, encode.Options{Encoding: "raw:bin"}, plan.Options{})
	for _, row := range []struct {
		name      string
		dir       func(t *testing.T) string
		overwrite bool
		want      error
	}{
		{"new directory", func(t *testing.T) string { return filepath.Join(t.TempDir(), "a", "b") }, false, nil},
		{"directory with other files", func(t *testing.T) string { return shardtest.Put(t, t.TempDir(), "notes.txt") }, false, nil},
		{"another dataset", shardtest.Dataset(src, other), false, dataset.ErrOccupied},
		{"another dataset, overwrite", shardtest.Dataset(src, other), true, nil},
		{"the same dataset", shardtest.Dataset(src, p), false, nil},
		{"the same dataset, overwrite", shardtest.Dataset(src, p), true, nil},
		{"a shard without a plan", func(t *testing.T) string { return shardtest.Put(t, t.TempDir(), "PART_00000.ffr") }, false, dataset.ErrOccupied},
		{"a shard without a plan, overwrite", func(t *testing.T) string { return shardtest.Put(t, t.TempDir(), "PART_00000.ffr") }, true, dataset.ErrOccupied},
		{"a manifest alone", func(t *testing.T) string { return shardtest.Put(t, t.TempDir(), dataset.ManifestName) }, false, dataset.ErrOccupied},
		{"a manifest alone, overwrite", func(t *testing.T) string { return shardtest.Put(t, t.TempDir(), dataset.ManifestName) }, true, dataset.ErrOccupied},
		{"meta.json of someone else", func(t *testing.T) string { return shardtest.Put(t, t.TempDir(), dataset.MetaName) }, true, dataset.ErrOccupied},
		{"index of someone else", func(t *testing.T) string {
			dir := t.TempDir()
			shardtest.Mkdir(t, dir, dataset.IndexDir)
			return dir
		}, false, dataset.ErrOccupied},
		{"a shard more than the plan has", func(t *testing.T) string { return shardtest.Put(t, shardtest.Dataset(src, p)(t), "PART_00004.ffr") }, false, dataset.ErrOccupied},
		{"a shard more than the plan has, overwrite", func(t *testing.T) string { return shardtest.Put(t, shardtest.Dataset(src, p)(t), "PART_00004.ffr") }, true, dataset.ErrOccupied},
		{"a shard of someone else", func(t *testing.T) string { return shardtest.Put(t, t.TempDir(), "train.ffr") }, true, dataset.ErrOccupied},
		{"a damaged plan", func(t *testing.T) string {
			dir := shardtest.Dataset(src, p)(t)
			shardtest.Flip(t, dir, dataset.PlanName, 30)
			return dir
		}, false, nil},
		{"a damaged plan of another dataset", func(t *testing.T) string {
			dir := shardtest.Dataset(src, other)(t)
			shardtest.Flip(t, dir, dataset.PlanName, 30)
			return dir
		}, false, dataset.ErrOccupied},
		{"a damaged plan without a manifest", func(t *testing.T) string {
			dir := shardtest.Dataset(src, p)(t)
			shardtest.Flip(t, dir, dataset.PlanName, 30)
			shardtest.Remove(t, dir, dataset.ManifestName)
			return dir
		}, false, plan.ErrDamaged},
		{"a damaged plan without a manifest, overwrite", func(t *testing.T) string {
			dir := shardtest.Dataset(src, p)(t)
			shardtest.Flip(t, dir, dataset.PlanName, 30)
			shardtest.Remove(t, dir, dataset.ManifestName)
			return dir
		}, true, nil},
		{"no plan", func(t *testing.T) string {
			dir := shardtest.Dataset(src, p)(t)
			shardtest.Remove(t, dir, dataset.PlanName)
			return dir
		}, false, nil},
		{"a damaged manifest", func(t *testing.T) string {
			dir := shardtest.Dataset(src, p)(t)
			shardtest.Flip(t, dir, dataset.ManifestName, 0)
			return dir
		}, false, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := row.dir(t)
			before := shardtest.Files(t, t.TempDir())
			if _, err := os.Stat(dir); err == nil {
				before = shardtest.Files(t, dir)
			}
			_, err := shardtest.Write(t, src, p, dir, write.Options{Overwrite: row.overwrite})
			if !errors.Is(err, row.want) {
				t.Fatalf("error %v, want %v", err, row.want)
			}
			if err != nil {
				if !maps.Equal(shardtest.Files(t, dir), before) {
					t.Error("a refused run changed the directory")
				}
				return
			}
			m, err := dataset.ReadManifest(dir)
			if err != nil {
				t.Fatal(err)
			}
			report, err := verify.Dataset(context.Background(), dir, nil, m.Expect(), verify.Options{})
			if err != nil || report.Err() != nil {
				t.Errorf("%v, %v", err, report.Err())
			}
		})
	}
}

// A journal that names what is no shard is not believed: --overwrite would remove it.
func TestJournalNamesShardsAlone(t *testing.T) {
	t.Parallel()
	src := memsource.New(16, 1, 20, 100)
	plan := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	dir := shardtest.Dataset(src, plan)(t)
	shardtest.Put(t, dir, "notes")
	line := `{"name":"notes","samples":1,"bytes":2}`
	f, err := os.OpenFile(filepath.Join(dir, filepath.FromSlash(dataset.JournalName)), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(f, "%08x %s\n", crc32.ChecksumIEEE([]byte(line)), line)
	f.Close()
	if _, err := shardtest.Write(t, src, plan, dir, write.Options{Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "notes")); err != nil {
		t.Errorf("a file that a journal named is gone: %v", err)
	}
}

func TestOpenOutputLocks(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	first, err := dataset.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = dataset.Open(dir)
	host, _ := os.Hostname()
	if want := fmt.Sprintf("process %d on %s, since 2", os.Getpid(), host); !errors.Is(err, dataset.ErrLocked) || !strings.Contains(err.Error(), want) {
		t.Errorf("second writer: %v, want %v: %s", err, dataset.ErrLocked, want)
	}
	for _, forged := range []string{"", "{", `{"host":"\u001b[31m","pid":1}`, `{"host":"a","pid":-1}`} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(dataset.LockName)), []byte(forged), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := dataset.Open(dir); !errors.Is(err, dataset.ErrLocked) || strings.Contains(err.Error(), "process") {
			t.Errorf("the lock says %q: %v", forged, err)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an output in which nothing was begun is left: %v", err)
	}
}

// Nothing is written through a link in the output, be it to somewhere outside or inside.
func TestOutputLinks(t *testing.T) {
	t.Parallel()
	src := memsource.New(9, 1, 20, 100)
	plan := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	for _, name := range []string{dataset.WorkDir, dataset.IndexDir, dataset.ManifestName, dataset.MetaName, "PART_00000.ffr", dataset.LockName, dataset.JournalName, dataset.PlanName} {
		dir, outside := t.TempDir(), t.TempDir()
		shardtest.Mkdir(t, dir, path.Dir(name))
		if err := os.Symlink(filepath.Join(outside, "x"), filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
		if _, err := shardtest.Write(t, src, plan, dir, write.Options{}); err == nil {
			t.Errorf("%s is a link, and was followed or replaced", name)
		}
		if left, _ := os.ReadDir(outside); len(left) > 0 {
			t.Errorf("%s is a link: %v was written outside", name, left)
		}
	}
}

// An error of a look at a file does not mean that there is none.
func TestLookup(t *testing.T) {
	t.Parallel()
	out, err := dataset.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if st, err := out.Lookup("nothing"); st != nil || err != nil {
		t.Errorf("Lookup of nothing = %v, %v", st, err)
	}
	if st, err := out.Lookup(dataset.LockName); st == nil || err != nil {
		t.Errorf("Lookup of the lock = %v, %v", st, err)
	}
	if st, err := out.Lookup(strings.Repeat("a", 300)); st != nil || err == nil {
		t.Errorf("Lookup that fails = %v, %v", st, err)
	}
}
