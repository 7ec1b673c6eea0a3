//go:build unix

package packed

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is neither a file nor a directory is refused, and never opened: a FIFO would block.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(file string) error{
		"FIFO":    func(file string) error { return syscall.Mkfifo(file, 0o600) },
		"socket":  func(file string) error { _, err := net.Listen("unix", file); return err },
		"device":  func(file string) error { return os.Symlink("/dev/null", file) },
		"nowhere": func(file string) error { return os.Symlink("nowhere", file) },
		"itself":  func(file string) error { return os.Symlink("special", file) },
	} {
		dir, err := os.MkdirTemp("", "") // short: the path of a socket has 108 bytes at most
		must(t, err)
		defer os.RemoveAll(dir)
		must(t, make(filepath.Join(dir, "special")))
		for _, outside := range []bool{true, false} {
			_, err = Write(t.Context(), dir, filepath.Join(t.TempDir(), "out.ffr"), WriteOptions{FollowOutside: outside})
			if !errors.Is(err, errUnsupported) || !strings.Contains(err.Error(), `"special"`) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
