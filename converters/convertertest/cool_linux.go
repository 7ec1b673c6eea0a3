package convertertest

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// cool removes files from the page cache, if their file systems support that.
func cool(t *testing.T, paths []string) {
	t.Helper()
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
		if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
			t.Fatal(err)
		}
	}
}
