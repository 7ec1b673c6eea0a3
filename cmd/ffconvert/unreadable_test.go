//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
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

// copyFile copies as a process of its own: what this one has written cannot be executed
// while a child that another test is starting still holds the descriptor.
func copyFile(t *testing.T, from, to string, mode os.FileMode) {
	t.Helper()
	if out, err := exec.Command(need.Tool(t, "cp"), from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Chmod(to, mode); err != nil {
		t.Fatal(err)
	}
}
