//go:build bench && linux

package bench

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A memoryGroup is a control group whose processes have so much memory together, the page cache that they fill
// included.
type memoryGroup string

// newMemoryGroup makes a group below that of this process, or below the root: by version 2 of the
// kernel's interface, else by version 1.
func newMemoryGroup(t *testing.T, limit int64) (memoryGroup, error) {
	t.Helper()
	var errs []error
	for _, v := range []struct{ root, prefix, limit string }{
		{"/sys/fs/cgroup", "0::", "memory.max"},
		{"/sys/fs/cgroup/memory", ":memory:", "memory.limit_in_bytes"},
	} {
		for _, parent := range []string{filepath.Join(v.root, ownGroup(v.prefix)), v.root} {
			if _, err := os.Stat(filepath.Join(parent, "cgroup.procs")); err != nil {
				errs = append(errs, err) // the other version is mounted
				continue
			}
			put(filepath.Join(parent, "cgroup.subtree_control"), "+memory") // where this fails, the limit's file is missing
			dir := filepath.Join(parent, fmt.Sprintf("ffconvert-bench-%d", os.Getpid()))
			if err := os.Mkdir(dir, 0o755); err != nil {
				errs = append(errs, err)
				continue
			}
			t.Cleanup(func() { os.Remove(dir) })
			err := put(filepath.Join(dir, v.limit), fmt.Sprint(limit))
			if err == nil {
				return memoryGroup(dir), nil
			}
			errs = append(errs, err)
		}
	}
	return "", fmt.Errorf("no cgroup can be made: %w", errors.Join(errs...))
}

// put writes to a file of the kernel's, which it does not make.
func put(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// ownGroup is the group of this process in the hierarchy whose line has the prefix.
func ownGroup(prefix string) string {
	for line := range strings.Lines(contents("/proc/self/cgroup")) {
		if _, path, ok := strings.Cut(line, prefix); ok {
			return strings.TrimSpace(path)
		}
	}
	return ""
}

// limited returns the command in the group.
func (g memoryGroup) limited(cmd *exec.Cmd) *exec.Cmd {
	return exec.Command("sh", append([]string{"-c", `echo $$ > "$1"; shift; exec "$@"`, "sh", filepath.Join(string(g), "cgroup.procs")}, cmd.Args...)...)
}
