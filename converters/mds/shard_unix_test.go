//go:build unix

package mds

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// A FIFO in the place of the compressed file is an error, not a wait for a writer.
func TestStoredFIFO(t *testing.T) {
	t.Parallel()
	w := write(t, []Column{{"x", "str", 0}}, []string{"a"})
	w.shard.Stored, w.shard.Zip.Name = filepath.Join(t.TempDir(), "shard.mds.zstd"), "shard.mds.zstd"
	if err := syscall.Mkfifo(w.shard.Stored, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := memory(Options{}, w)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := contents(t, s); !errors.Is(err, converters.ErrChanged) || !strings.Contains(err.Error(), "the compressed file is not a regular file any more") {
		t.Errorf("error %v", err)
	}
}
