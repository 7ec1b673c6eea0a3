//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A file without read permission is an I/O error that names it. The command is run by
// a user to whom permissions apply.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "ffconvert-unreadable-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "ffconvert") // testscript.Main runs the command of that name
	copyFile(t, os.Args[0], exe, 0o755)
	secret := filepath.Join(dir, "secret.tar")
	copyFile(t, filepath.Join("..", "..", "testdata", "shards-000.tar"), secret, 0)

	cmd := exec.Command(exe, "tar", secret, filepath.Join(dir, "out"))
	cmd.Dir = dir
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != exitIO {
		t.Errorf("ended with %v, want status %d", err, exitIO)
	}
	if text := string(out); !strings.Contains(text, "secret.tar") || !strings.Contains(text, "permission denied") || strings.Count(text, "\n") != 1 {
		t.Errorf("error %q", text)
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); !os.IsNotExist(err) {
		t.Errorf("an output is left: %v", err)
	}
}

func copyFile(t *testing.T, from, to string, mode os.FileMode) {
	t.Helper()
	src, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(dst, src); err != nil {
		t.Fatal(err)
	}
	if err := dst.Close(); err != nil {
		t.Fatal(err)
	}
}
