package packed

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A directory whose name is not there after the rename, though the file system has said that it
// was done, is not a directory that was unpacked; nothing is left of it.
func TestStagingLies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := newStaging(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	s.moved = []string{"dropped"}
	if err := s.commit(); !errors.Is(err, syscall.EIO) {
		t.Errorf("error %v", err)
	}
	s.discard()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
