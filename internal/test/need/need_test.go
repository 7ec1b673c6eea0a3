package need

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A tool that is missing skips a test, with its name, and fails it in CI.
func TestTool(t *testing.T) {
	const none = "ffconvert-no-such-tool"
	for _, row := range []struct{ ci, tool, ended string }{
		{"", "go", ""},
		{"true", "go", ""},
		{"", none, "skipped"},
		{"true", none, "failed"},
	} {
		t.Setenv("CI", row.ci)
		a := Try(t, func(t testing.TB) { Tools(t, row.tool) })
		if a.Ended != row.ended || strings.Contains(a.Said.String(), none) != (row.tool == none) {
			t.Errorf("CI=%q, %s: %q, want %q: %s", row.ci, row.tool, a.Ended, row.ended, &a.Said)
		}
	}
}

// With -short alone is a long test skipped.
func TestTime(t *testing.T) {
	a := Try(t, func(t testing.TB) { Time(t, "all cuts") })
	ended, log := "", ""
	if testing.Short() {
		ended, log = "skipped", "left out by -short: all cuts"
	}
	if a.Ended != ended || a.Said.String() != log {
		t.Errorf("%q: %s, want %q: %s", a.Ended, &a.Said, ended, log)
	}
}

// Outside of CI a test of minutes is skipped unless it is asked for, and with -short always.
func TestLong(t *testing.T) {
	for _, row := range []struct{ ci, long, ended string }{
		{"", "", "skipped"},
		{"", "1", ""},
		{"true", "", ""},
	} {
		t.Setenv("CI", row.ci)
		t.Setenv("FFCONVERT_LONG", row.long)
		want := row.ended
		if testing.Short() {
			want = "skipped"
		}
		if a := Try(t, func(t testing.TB) { Long(t, "every call") }); a.Ended != want {
			t.Errorf("CI=%q FFCONVERT_LONG=%q: %q, want %q: %s", row.ci, row.long, a.Ended, want, &a.Said)
		}
	}
}

// The program runs, and another call does not build it again.
func TestProgram(t *testing.T) {
	path := Program(t)
	out, err := exec.Command(path, "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "ffconvert ") || Program(t) != path {
		t.Errorf("%s version: %q, %v", path, out, err)
	}
}

// .ci/run takes its command for npm from the comment of Node: the only line that has it.
func TestNodeCommand(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("node.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "npm install"); n != 1 {
		t.Errorf("node.go has %d commands for npm", n)
	}
}
