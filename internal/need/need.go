// Package need says what a test needs beyond Go, and skips the test where that is missing. Only
// tests import it.
//
//	gzip := need.Tool(t, "gzip")  // its path; without it the test is skipped
//	program := need.Program(t)    // ffconvert, built once for all packages
//	need.Time(t, "every cut of every file") // skipped with -short
//
// Where CI is set a tool may not be missing: the test fails. `go tool gotestsum ./...` lists at its
// end which tests were skipped and why.
package need

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// InCI reports whether the machine has all that .ci/run installs, so that nothing may be missing.
func InCI() bool { return os.Getenv("CI") != "" }

// Tool returns the path of a program. Daemons may lie where PATH of a user does not lead.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		var inSystem error
		if path, inSystem = exec.LookPath(filepath.Join("/usr/sbin", name)); inSystem != nil {
			Missing(t, err)
		}
	}
	return path
}

// Tools is Tool for several programs whose paths do not matter.
func Tools(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		Tool(t, name)
	}
}

// Shell wants sh, and the tools that its scripts in tests use.
func Shell(t testing.TB) {
	t.Helper()
	Tools(t, "sh", "cat", "cp", "head", "printf", "sed", "sleep", "touch")
}

// Missing ends a test for which the machine lacks something that CI has.
func Missing(t testing.TB, why ...any) {
	t.Helper()
	if InCI() {
		t.Fatal(why...)
	}
	t.Skip(why...)
}

// Time skips a test under -short, with what it would try.
func Time(t testing.TB, what string) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short:", what)
	}
}

// Program returns the path of ffconvert, built without cgo. The go command keeps what it linked in
// its cache, so that the packages that run it link it once.
func Program(t testing.TB) string {
	t.Helper()
	path, err := Build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Build is Program where there is no test at hand. Called before the tests run, by TestMain, it
// would not bind their cached results to the sources.
var Build = sync.OnceValues(func() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	// Listing each directory binds a cached result of the test to the sources: the go command
	// does not know that they decide it.
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && name != root && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "tool", "-n", "ffconvert")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	var text strings.Builder
	build.Stderr = &text
	path, err := build.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", build, err, &text)
	}
	return filepath.EvalSymlinks(strings.TrimSpace(string(path)))
})

// moduleRoot is the first directory with a go.mod from that of the test upwards.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			err = errors.New("no go.mod above the test's directory")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}
