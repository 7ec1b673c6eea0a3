package need

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// A recorder is a test that may be skipped or fail.
type recorder struct {
	testing.TB
	ended string // how, and why
}

func (r *recorder) Helper()        {}
func (r *recorder) Fatal(a ...any) { r.end("failed", a) }
func (r *recorder) Skip(a ...any)  { r.end("skipped", a) }
func (r *recorder) end(how string, why []any) {
	r.ended = how + ": " + fmt.Sprint(why...)
	panic(r)
}

func (r *recorder) run(test func(t testing.TB)) {
	defer func() {
		if x := recover(); x != nil && x != any(r) {
			panic(x)
		}
	}()
	test(r)
}

// A tool that is missing skips a test, with its name, and fails it in CI.
func TestTool(t *testing.T) {
	const none = "ffconvert-no-such-tool"
	for _, row := range []struct{ ci, tool, ended string }{
		{"", "go", ""},
		{"true", "go", ""},
		{"", none, "skipped: "},
		{"true", none, "failed: "},
	} {
		t.Setenv("CI", row.ci)
		r := &recorder{TB: t}
		r.run(func(t testing.TB) { Tools(t, row.tool) })
		if !strings.HasPrefix(r.ended, row.ended) || (r.ended == "") != (row.ended == "") || strings.Contains(r.ended, none) != (row.tool == none) {
			t.Errorf("CI=%q, %s: %q, want %q", row.ci, row.tool, r.ended, row.ended)
		}
	}
}

// With -short alone is a long test skipped.
func TestTime(t *testing.T) {
	r := &recorder{TB: t}
	r.run(func(t testing.TB) { Time(t, "all cuts") })
	want := ""
	if testing.Short() {
		want = "skipped: left out by -short: all cuts"
	}
	if r.ended != want {
		t.Errorf("%q, want %q", r.ended, want)
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
