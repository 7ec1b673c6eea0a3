package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// A file that is read whole takes its size in memory, not a multiple of it, and one that is over the
// limit none. It is not parallel: what other tests allocate would count.
func TestReadKeptMemory(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, size := range map[string]int64{"empty": 0, "small": 5, "large": 48 << 20, "hostile": maxKept + 1} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, size)); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		data, err := readKept(root, name)
		runtime.ReadMemStats(&after)
		want := size
		if size > maxKept {
			want = 0
			if !errors.Is(err, converters.ErrLimit) {
				t.Errorf("%s: error %v", name, err)
			}
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if int64(len(data)) != want {
			t.Errorf("%s: %d bytes", name, len(data))
		}
		if used := int64(after.TotalAlloc - before.TotalAlloc); used > want+64<<10 {
			t.Errorf("%s: %d bytes of memory for %d", name, used, want)
		}
	}
}
