//go:build unix

package record

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A FIFO is refused, and opening it does not wait for a writer.
func TestReaderFIFO(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "a.ffr"), 0o600); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "a.ffr")} {
		if _, err := Open(path, Options{}); err == nil {
			t.Errorf("opened %s", path)
		}
	}
}
