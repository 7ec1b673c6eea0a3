package kubernetes

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A Job that fails ends the wait as one that completes does: wait.sh asks a kubectl that tells the
// conditions of a file, to which the Job's end is added meanwhile.
func TestWait(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, conditions string // when it has ended; "": there is no such Job
		status           int
		says             string
	}{
		{"complete", "SuccessCriteriaMet: \nComplete: all of it\n", 0, "ffconvert-plan: Complete: all of it\n"},
		{"failed", "FailureTarget: Container failed with exit code 3\nFailed: Container failed with exit code 3\n", 1, "ffconvert-plan: Failed: Container failed with exit code 3\n"},
		{"no Job", "", 2, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "conditions")
			write(t, filepath.Join(dir, "kubectl"), "#!/bin/sh\n[ \"$1 $2 $3\" = 'get job/ffconvert-plan -o' ] && cat '"+file+"'\n", 0o755)
			if row.conditions != "" {
				write(t, file, "Suspended: not an end\n", 0o644)
			}
			cmd := exec.CommandContext(t.Context(), "./wait.sh", "ffconvert-plan", "0.1")
			cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
			var out strings.Builder
			cmd.Stdout = &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(300 * time.Millisecond)
			if row.conditions != "" {
				write(t, file+".new", row.conditions, 0o644)
				if err := os.Rename(file+".new", file); err != nil {
					t.Fatal(err)
				}
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case <-ended:
			case <-time.After(30 * time.Second):
				t.Fatal("it still waits")
			}
			if got := cmd.ProcessState.ExitCode(); got != row.status || out.String() != row.says {
				t.Errorf("status %d, %q", got, out.String())
			}
		})
	}
}

// write makes a file. A process that is forked meanwhile would have it open for writing until it has its program, and no
// other process could run it.
func write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// No page tells anybody to wait for completion alone.
func TestNoWaitForOneEnd(t *testing.T) {
	t.Parallel()
	for _, name := range []string{shared, inBucket, "../../docs/clusters.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if regexp.MustCompile(`kubectl wait .*Complete`).Match(text) {
			t.Errorf("%s: kubectl wait for Complete does not end when the Job fails", name)
		}
		if !strings.Contains(string(text), "wait.sh ffconvert-plan && ") {
			t.Errorf("%s does not name wait.sh", name)
		}
	}
}
