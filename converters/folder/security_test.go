package folder

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// A file may say that it has any size, a sparse one that costs nothing: no byte of it is
// held before the size was compared with the limit. It is not parallel: memory is counted.
func TestSecurityLengths(t *testing.T) {
	for _, size := range []int64{DefaultMaxSample + 1, 1 << 40, 1 << 43} {
		root := build(t, map[string]string{"cat/a.jpg": "x"})
		if err := os.Truncate(filepath.Join(root, "cat/a.jpg"), size); err != nil {
			t.Logf("this file system has no files of %d bytes: %v", size, err)
			continue
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s := mustOpen(t, Options{Load: func(string) bool { return true }}, root)
		var err error
		for _, err = range s.Index(t.Context(), 0) {
			if err != nil {
				break
			}
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, converters.ErrLimit) || took > 1<<20 {
			t.Errorf("%d bytes: %d allocated, error %v", size, took, err)
		}
	}
}
