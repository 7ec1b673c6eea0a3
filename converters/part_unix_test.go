//go:build unix

package converters

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// A FIFO in the place of a part is an error, not a wait for a writer.
func TestPartFIFO(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "named.tar")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	want := path + ": changed since it was indexed: it is not a regular file any more"
	if _, err := (Part{Name: path, Path: path, Size: 5}).Open(); !errors.Is(err, ErrChanged) || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
