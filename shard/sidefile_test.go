package shard

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/encode"
)

// A run that goes on writes an index anew whose bytes are others, though it has the right size.
func TestResumeHealsIndex(t *testing.T) {
	t.Parallel()
	src := newFixture(15, 2, 50, 2000)
	plan := newPlan(t, src, encode.Options{}, fourShards)
	dir := t.TempDir()
	if _, err := write(t, src, plan, dir, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	want := everything(t, dir)
	name := indexName("PART_00002.ffr")
	path := filepath.Join(dir, filepath.FromSlash(name))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, len(data) / 2, len(data) - 1} {
		flip(t, dir, name, at)
		report, err := write(t, src, plan, dir, WriteOptions{})
		if err != nil || len(report.Lost) != 1 || report.Kept != 3 {
			t.Fatalf("byte %d: %+v, %v", at, report, err)
		}
		for name, text := range everything(t, dir) {
			if want[name] != text {
				t.Errorf("byte %d: %s differs", at, name)
			}
		}
	}
}
