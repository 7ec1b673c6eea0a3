package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// A folder of a million files is planned in little memory. It is not parallel: memory is
// measured.
func TestListingMemory(t *testing.T) {
	need.Time(t, "a large directory")
	const files = 3_000
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "n01"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range files {
		f, err := os.Create(filepath.Join(root, "n01", fmt.Sprintf("n01440764_%05d.JPEG", i))) // 20 characters
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	heap := func() int64 {
		runtime.GC()
		runtime.GC() // the first may still have been running
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for name, c := range map[string]struct {
		opts Options
		root string
	}{
		"a class":         {Options{}, root},
		"the first level": {Options{Flat: true}, filepath.Join(root, "n01")},
	} {
		before := heap()
		src := mustOpen(t, c.opts, c.root)
		run := runOf(t, src, 0)
		each := float64(heap()-before) / files
		if run.Count != files || each > 55 {
			t.Errorf("%s: %d files, %.1f bytes for each", name, run.Count, each)
		}
		t.Logf("%s: %.1f bytes a file", name, each)
		runtime.KeepAlive(src)
	}
}

func TestModTime(t *testing.T) {
	t.Parallel()
	root := build(t, map[string]string{"c/a.jpg": "", "c/a.json": "", "c/b.jpg": ""})
	times := map[string]time.Time{
		"c/a.jpg": time.Unix(1_700_000_000, 5), "c/a.json": time.Unix(1_700_000_001, 3), "c/b.jpg": time.Unix(-1000, 1),
	}
	for name, at := range times {
		if err := os.Chtimes(filepath.Join(root, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	want := []time.Time{times["c/a.json"], times["c/b.jpg"]}
	for span, err := range mustOpen(t, Options{Group: true}, root).Index(t.Context(), 0) {
		if err != nil || !span.ModTime.Equal(want[0]) {
			t.Fatalf("%v, error %v, want %v", span.ModTime, err, want[0])
		}
		want = want[1:]
	}
}
