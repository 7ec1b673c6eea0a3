package shard

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

	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/verify"
)

func TestWriteOccupied(t *testing.T) {
	t.Parallel()
	src := newFixture(8, 1, 50, 400)
	plan := newPlan(t, src, encode.Options{}, fourShards)
	other := newPlan(t, src, encode.Options{Encoding: "raw:bin"}, Options{})
	for _, row := range []struct {
		name      string
		dir       func(t *testing.T) string
		overwrite bool
		want      error
	}{
		{"new directory", func(t *testing.T) string { return filepath.Join(t.TempDir(), "a", "b") }, false, nil},
		{"directory with other files", func(t *testing.T) string { return put(t, t.TempDir(), "notes.txt") }, false, nil},
		{"another dataset", dataset(src, other), false, ErrOccupied},
		{"another dataset, overwrite", dataset(src, other), true, nil},
		{"the same dataset", dataset(src, plan), false, nil},
		{"the same dataset, overwrite", dataset(src, plan), true, nil},
		{"a shard without a plan", func(t *testing.T) string { return put(t, t.TempDir(), "PART_00000.ffr") }, false, ErrOccupied},
		{"a shard without a plan, overwrite", func(t *testing.T) string { return put(t, t.TempDir(), "PART_00000.ffr") }, true, ErrOccupied},
		{"a manifest alone", func(t *testing.T) string { return put(t, t.TempDir(), ManifestName) }, false, ErrOccupied},
		{"a manifest alone, overwrite", func(t *testing.T) string { return put(t, t.TempDir(), ManifestName) }, true, ErrOccupied},
		{"meta.json of someone else", func(t *testing.T) string { return put(t, t.TempDir(), metaName) }, true, ErrOccupied},
		{"index of someone else", func(t *testing.T) string {
			dir := t.TempDir()
			mkdir(t, dir, indexDir)
			return dir
		}, false, ErrOccupied},
		{"a shard more than the plan has", func(t *testing.T) string { return put(t, dataset(src, plan)(t), "PART_00004.ffr") }, false, ErrOccupied},
		{"a shard more than the plan has, overwrite", func(t *testing.T) string { return put(t, dataset(src, plan)(t), "PART_00004.ffr") }, true, ErrOccupied},
		{"a shard of someone else", func(t *testing.T) string { return put(t, t.TempDir(), "train.ffr") }, true, ErrOccupied},
		{"a damaged plan", func(t *testing.T) string {
			dir := dataset(src, plan)(t)
			flip(t, dir, PlanName, 30)
			return dir
		}, false, nil},
		{"a damaged plan of another dataset", func(t *testing.T) string {
			dir := dataset(src, other)(t)
			flip(t, dir, PlanName, 30)
			return dir
		}, false, ErrOccupied},
		{"a damaged plan without a manifest", func(t *testing.T) string {
			dir := dataset(src, plan)(t)
			flip(t, dir, PlanName, 30)
			remove(t, dir, ManifestName)
			return dir
		}, false, ErrOccupied},
		{"a damaged plan without a manifest, overwrite", func(t *testing.T) string {
			dir := dataset(src, plan)(t)
			flip(t, dir, PlanName, 30)
			remove(t, dir, ManifestName)
			return dir
		}, true, nil},
		{"no plan", func(t *testing.T) string {
			dir := dataset(src, plan)(t)
			remove(t, dir, PlanName)
			return dir
		}, false, nil},
		{"a damaged manifest", func(t *testing.T) string {
			dir := dataset(src, plan)(t)
			flip(t, dir, ManifestName, 0)
			return dir
		}, false, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := row.dir(t)
			before := files(t, t.TempDir())
			if _, err := os.Stat(dir); err == nil {
				before = files(t, dir)
			}
			_, err := write(t, src, plan, dir, WriteOptions{Overwrite: row.overwrite})
			if !errors.Is(err, row.want) {
				t.Fatalf("error %v, want %v", err, row.want)
			}
			if err != nil {
				if !maps.Equal(files(t, dir), before) {
					t.Error("a refused run changed the directory")
				}
				return
			}
			m, err := ReadManifest(dir)
			if err != nil {
				t.Fatal(err)
			}
			report, err := verify.Dataset(context.Background(), dir, m.Expect(), verify.Options{})
			if err != nil || report.Err() != nil {
				t.Errorf("%v, %v", err, report.Err())
			}
		})
	}
}

// A journal that names what is no shard is not believed: --overwrite would remove it.
func TestJournalNamesShardsAlone(t *testing.T) {
	t.Parallel()
	src := newFixture(16, 1, 20, 100)
	plan := newPlan(t, src, encode.Options{}, fourShards)
	dir := dataset(src, plan)(t)
	put(t, dir, "notes")
	line := `{"name":"notes","samples":1,"bytes":2}`
	f, err := os.OpenFile(filepath.Join(dir, filepath.FromSlash(journalName)), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(f, "%08x %s\n", crc32.ChecksumIEEE([]byte(line)), line)
	f.Close()
	if _, err := write(t, src, plan, dir, WriteOptions{Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "notes")); err != nil {
		t.Errorf("a file that a journal named is gone: %v", err)
	}
}

func TestOpenOutputLocks(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	first, err := OpenOutput(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = OpenOutput(dir)
	host, _ := os.Hostname()
	if want := fmt.Sprintf("process %d on %s, since 2", os.Getpid(), host); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), want) {
		t.Errorf("second writer: %v, want %v: %s", err, ErrLocked, want)
	}
	for _, forged := range []string{"", "{", `{"host":"\u001b[31m","pid":1}`, `{"host":"a","pid":-1}`} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(lockName)), []byte(forged), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenOutput(dir); !errors.Is(err, ErrLocked) || strings.Contains(err.Error(), "process") {
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
	src := newFixture(9, 1, 20, 100)
	plan := newPlan(t, src, encode.Options{}, fourShards)
	for _, name := range []string{WorkDir, indexDir, ManifestName, metaName, "PART_00000.ffr", lockName, journalName, PlanName} {
		dir, outside := t.TempDir(), t.TempDir()
		mkdir(t, dir, path.Dir(name))
		if err := os.Symlink(filepath.Join(outside, "x"), filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
		if _, err := write(t, src, plan, dir, WriteOptions{}); err == nil {
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
	out, err := OpenOutput(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if st, err := out.Lookup("nothing"); st != nil || err != nil {
		t.Errorf("Lookup of nothing = %v, %v", st, err)
	}
	if st, err := out.Lookup(lockName); st == nil || err != nil {
		t.Errorf("Lookup of the lock = %v, %v", st, err)
	}
	if st, err := out.Lookup(strings.Repeat("a", 300)); st != nil || err == nil {
		t.Errorf("Lookup that fails = %v, %v", st, err)
	}
}
