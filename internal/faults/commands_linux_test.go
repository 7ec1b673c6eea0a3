package faults

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stubborn is a script that runs at full speed whatever it is told, with a child that does, too, and
// another one that is new all the time. It begins when the file named by $READY is there.
const stubborn = `trap '' TERM HUP INT PIPE; (while :; do :; done) & while :; do /bin/echo x; sleep 0.01; : > "$READY"; done 2>/dev/null`

// A command of pipe:, a plugin and a filter end with the program, SIGKILL of it included, and so does what they
// have started: whoever kills a task has killed it.
func TestKilledCommands(t *testing.T) {
	slow(t)
	t.Parallel()
	for _, row := range []struct {
		name string
		sig  syscall.Signal
		args func(dir string) []string
	}{
		{"pipe, killed", syscall.SIGKILL, func(dir string) []string {
			return []string{"csv", "--allow-pipe", "pipe:" + filepath.Join(dir, "ffconvert-stubborn"), filepath.Join(dir, "out")}
		}},
		{"plugin, killed", syscall.SIGKILL, func(dir string) []string { return []string{"stubborn", filepath.Join(dir, "out")} }},
		{"pipe, terminated", syscall.SIGTERM, func(dir string) []string {
			return []string{"csv", "--allow-pipe", "pipe:" + filepath.Join(dir, "ffconvert-stubborn"), filepath.Join(dir, "out")}
		}},
		{"filter, killed", syscall.SIGKILL, stubbornFilter},
		{"filter, terminated", syscall.SIGTERM, stubbornFilter},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir, remove, err := scratch()
			if err != nil {
				t.Fatal(err)
			}
			defer remove()
			mark, ready := "FFCONVERT_TEST_MARK="+dir, filepath.Join(dir, "ready")
			if err := os.WriteFile(filepath.Join(dir, "ffconvert-stubborn"), []byte("#!/bin/sh\n"+stubborn+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			cmd, cancel := command(program(), row.args(dir)...)
			defer cancel()
			cmd.Env = append(os.Environ(), mark, "READY="+ready, "PATH="+dir+":"+os.Getenv("PATH"))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				for pid := range marked(mark) {
					syscall.Kill(pid, syscall.SIGKILL)
				}
			}()
			if !soon(func() bool { _, err := os.Stat(ready); return err == nil && len(marked(mark)) >= 3 }) {
				t.Fatalf("it does not begin: %v", marked(mark))
			}
			cmd.Process.Signal(row.sig)
			cmd.Wait()
			if !soon(func() bool { return len(marked(mark)) == 0 }) {
				t.Errorf("they run on: %v", marked(mark))
			}
		})
	}
}

// stubbornFilter is a conversion whose filter answers nothing.
func stubbornFilter(dir string) []string {
	return convert(filepath.Join(dir, "out"), "--filter", `sh -c "exec `+filepath.Join(dir, "ffconvert-stubborn")+` >/dev/null"`)
}

// marked returns the processes that have a variable, by number, and what they are.
func marked(variable string) map[int]string {
	found := make(map[int]string)
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range all {
		environ, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(environ, []byte(variable)) {
			continue
		}
		var pid int
		fmt.Sscanf(name, "/proc/%d/", &pid)
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
		found[pid] = strings.ReplaceAll(string(line), "\x00", " ")
	}
	return found
}

// soon reports whether something becomes true before a run would count as hanging.
func soon(holds func() bool) bool {
	for end := time.Now().Add(hang); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if holds() {
			return true
		}
	}
	return false
}
