package dataset_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
)

// A run that goes on writes an index anew whose bytes are others, though it has the right size.
func TestResumeHealsIndex(t *testing.T) {
	t.Parallel()
	src := memsource.New(15, 2, 50, 2000)
	plan := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	dir := t.TempDir()
	if _, err := shardtest.Write(t, src, plan, dir, write.Options{}); err != nil {
		t.Fatal(err)
	}
	want := shardtest.Everything(t, dir)
	name := dataset.IndexName("PART_00002.ffr")
	path := filepath.Join(dir, filepath.FromSlash(name))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, len(data) / 2, len(data) - 1} {
		shardtest.Flip(t, dir, name, at)
		report, err := shardtest.Write(t, src, plan, dir, write.Options{})
		if err != nil || len(report.Lost) != 1 || report.Kept != 3 {
			t.Fatalf("byte %d: %+v, %v", at, report, err)
		}
		for name, text := range shardtest.Everything(t, dir) {
			if want[name] != text {
				t.Errorf("byte %d: %s differs", at, name)
			}
		}
	}
}
