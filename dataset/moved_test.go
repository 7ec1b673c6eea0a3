package dataset_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/verify"
)

// during is a progress that does something when the first shard begins, or is finished.
type during struct {
	begun, finished func()
}

func (*during) Start(string, int64)     {}
func (*during) Add(int64, int64)        {}
func (*during) Planned(int, int, int64) {}
func (*during) Moved(int64)             {}

func (d *during) Begun(string) {
	if d.begun != nil {
		d.begun()
		d.begun = nil
	}
}

func (d *during) Finished(dataset.ManifestShard, float64, bool) {
	if d.finished != nil {
		d.finished()
		d.finished = nil
	}
}

func TestOutputMoved(t *testing.T) {
	t.Parallel()
	src := memsource.New(21, 2, 50, 2000)
	plan := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	rename := func(t *testing.T, from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Error(err)
		}
	}
	for _, row := range []struct {
		name string
		move func(t *testing.T, dir string) // dir is a link to dir.real
	}{
		{"renamed", func(t *testing.T, dir string) { rename(t, dir+".real", dir+".moved") }},
		{"removed", func(t *testing.T, dir string) {
			if err := os.RemoveAll(dir + ".real"); err != nil {
				t.Error(err)
			}
		}},
		{"link switched", func(t *testing.T, dir string) {
			if err := errors.Join(os.Mkdir(dir+".other", 0o755), os.Remove(dir), os.Symlink(dir+".other", dir)); err != nil {
				t.Error(err)
			}
		}},
		{"replaced", func(t *testing.T, dir string) {
			rename(t, dir+".real", dir+".moved")
			if err := os.Mkdir(dir+".real", 0o755); err != nil {
				t.Error(err)
			}
		}},
	} {
		for _, when := range []string{"begun", "finished"} {
			t.Run(row.name+" when a shard is "+when, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "out")
				if err := errors.Join(os.Mkdir(dir+".real", 0o755), os.Symlink(dir+".real", dir)); err != nil {
					t.Fatal(err)
				}
				out, err := dataset.Open(dir)
				if err != nil {
					t.Fatal(err)
				}
				watch := &during{}
				move := func() { row.move(t, dir) }
				if when == "begun" {
					watch.begun = move
				} else {
					watch.finished = move
				}
				_, err = write.All(t.Context(), write.Local(src), plan, out, write.Options{Workers: 1, Progress: watch})
				if !errors.Is(err, dataset.ErrMoved) || errors.Is(err, verify.ErrCorrupt) {
					t.Errorf("Write = %v, want ErrMoved", err)
				}
				if err := out.Close(); err != nil {
					t.Error(err)
				}
				for _, name := range []string{".real", ".moved", ".other"} {
					if _, err := os.Stat(filepath.Join(dir+name, dataset.ManifestName)); err == nil {
						t.Errorf("out%s has a manifest", name)
					}
				}
				if names, _ := filepath.Glob(dir + ".other/*"); len(names) > 0 {
					t.Errorf("in the other directory: %q", names)
				}
			})
		}
	}
}

// A directory that is put back is gone on with.
func TestOutputMovedBack(t *testing.T) {
	t.Parallel()
	src := memsource.New(22, 2, 50, 2000)
	plan := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	dir := filepath.Join(t.TempDir(), "out")
	watch := &during{finished: func() {
		if err := os.Rename(dir, dir+".moved"); err != nil {
			t.Error(err)
		}
	}}
	if _, err := shardtest.Write(t, src, plan, dir, write.Options{Workers: 1, Progress: watch}); !errors.Is(err, dataset.ErrMoved) {
		t.Fatalf("Write = %v, want ErrMoved", err)
	}
	if err := os.Rename(dir+".moved", dir); err != nil {
		t.Fatal(err)
	}
	report, err := shardtest.Write(t, src, plan, dir, write.Options{Workers: 1})
	if err != nil || report.Kept == 0 {
		t.Errorf("Write = %+v, %v", report, err)
	}
}

func TestHere(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	out, err := dataset.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for _, err := range []error{nil, verify.ErrCorrupt} {
		if got := out.Here(err); got != err {
			t.Errorf("Here(%v) = %v", err, got)
		}
	}
	if err := os.Rename(dir, dir+"2"); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{nil, verify.ErrCorrupt} {
		if got := out.Here(err); !errors.Is(got, dataset.ErrMoved) || errors.Is(got, verify.ErrCorrupt) {
			t.Errorf("Here(%v) = %v", err, got)
		}
	}
	if got := out.Here(context.Canceled); got != context.Canceled {
		t.Errorf("Here(context.Canceled) = %v", got)
	}
}
