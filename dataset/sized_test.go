package dataset_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
)

// A shard or an index that another program removes or cuts while others are written is missed: there is
// no manifest that names it, and the same command writes it anew.
func TestRemovedWhileWritten(t *testing.T) {
	t.Parallel()
	src := memsource.New(23, 2, 50, 2000)
	plan := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	for name, harm := range map[string]func(dir string) error{
		"shard removed": func(dir string) error { return os.Remove(filepath.Join(dir, "PART_00000.ffr")) },
		"shard cut":     func(dir string) error { return os.Truncate(filepath.Join(dir, "PART_00000.ffr"), 40) },
		"index removed": func(dir string) error { return os.Remove(filepath.Join(dir, dataset.IndexName("PART_00000.ffr"))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "out")
			watch := &during{finished: func() {
				if err := harm(dir); err != nil {
					t.Error(err)
				}
			}}
			if _, err := shardtest.Write(t, src, plan, dir, write.Options{Workers: 1, Progress: watch}); !errors.Is(err, dataset.ErrMissing) {
				t.Errorf("Write = %v, want ErrMissing", err)
			}
			if _, err := os.Stat(filepath.Join(dir, dataset.ManifestName)); err == nil {
				t.Error("there is a manifest")
			}
			report, err := shardtest.Write(t, src, plan, dir, write.Options{Workers: 1})
			if err != nil || len(report.Lost) != 1 || report.Lost[0] != "PART_00000.ffr" {
				t.Errorf("the same again: %+v, %v", report, err)
			}
		})
	}
}

// A dataset whose shard or index has another size is not complete. A link or a directory in the place of
// either is an error, as it is for a repair.
func TestStatusSizes(t *testing.T) {
	t.Parallel()
	src := memsource.New(24, 2, 50, 2000)
	plan := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	for name, harm := range map[string]func(shard, index string) error{
		"shard cut":    func(shard, _ string) error { return os.Truncate(shard, 40) },
		"shard empty":  func(shard, _ string) error { return os.Truncate(shard, 0) },
		"index longer": func(_, index string) error { return os.Truncate(index, 1<<20) },
		"a link": func(shard, _ string) error {
			return errors.Join(os.Rename(shard, shard+".moved"), os.Symlink(shard+".moved", shard))
		},
		"a directory": func(shard, _ string) error { return errors.Join(os.Remove(shard), os.Mkdir(shard, 0o755)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "out")
			if _, err := shardtest.Write(t, src, plan, dir, write.Options{}); err != nil {
				t.Fatal(err)
			}
			const shard = "PART_00002.ffr"
			if err := harm(filepath.Join(dir, shard), filepath.Join(dir, dataset.IndexName(shard))); err != nil {
				t.Fatal(err)
			}
			s, err := shardtest.Status(dir)
			if name == "a link" || name == "a directory" {
				if !errors.Is(err, converters.ErrUnsupported) || !strings.Contains(err.Error(), shard) {
					t.Errorf("status %v, want ErrUnsupported of %s", err, shard)
				}
				return
			}
			if err != nil || s.Complete || s.Done != 3 || len(s.Missing) != 1 || s.Missing[0] != shard || !errors.Is(s.Err(), dataset.ErrMissing) {
				t.Errorf("status %+v, %v", s, err)
			}
		})
	}
}
