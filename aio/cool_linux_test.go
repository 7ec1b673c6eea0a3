package aio_test

import (
	"testing"

	"golang.org/x/sys/unix"
)

// cool writes a file to its device and removes it from the page cache.
func cool(t testing.TB, path string) {
	t.Helper()
	f := openOS(t, path)
	defer f.Close()
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
}
