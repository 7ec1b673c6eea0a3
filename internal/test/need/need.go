// Package need declares what a test needs besides Go, and skips the test if that is missing. Only tests
// import it.
//
//	gzip := need.Tool(t, "gzip")  // its path; without it the test is skipped
//	program := need.Program(t)    // ffconvert, built once for all packages
//	need.Time(t, "every cut of every file") // skipped with -short
//	need.Long(t, "every call fails once")   // skipped outside of CI
//
// If the variable CI is set, the test fails instead. `go tool gotestsum ./...` lists the skipped tests
// with their reasons at the end.
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

// InCI reports whether the tests run in CI, where .ci/run installs all tools.
func InCI() bool { return os.Getenv("CI") != "" }

// Tool returns the path of a program. It also looks in /usr/sbin, which PATH often lacks.
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

// Tools is Tool for several programs.
func Tools(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		Tool(t, name)
	}
}

// Shell is Tool for sh and the tools that the shell scripts of tests use.
func Shell(t testing.TB) {
	t.Helper()
	Tools(t, "sh", "cat", "cp", "head", "printf", "sed", "sleep", "touch")
}

// Missing skips a test because the machine lacks something. In CI it fails the test.
func Missing(t testing.TB, why ...any) {
	t.Helper()
	if InCI() {
		t.Fatal(why...)
	}
	t.Skip(why...)
}

// Time skips a test under -short. what says what the test tries.
func Time(t testing.TB, what string) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short:", what)
	}
}

// Long skips a test that takes ten seconds or more on two processors: CI runs it, and FFCONVERT_LONG=1 does. what says what the test tries.
func Long(t testing.TB, what string) {
	t.Helper()
	Time(t, what)
	if !InCI() && os.Getenv("FFCONVERT_LONG") == "" {
		t.Skip("left out without FFCONVERT_LONG=1:", what)
	}
}

// Program returns the path of ffconvert, built without cgo. The go command caches the linked program, so
// it is linked once for all packages.
func Program(t testing.TB) string {
	t.Helper()
	path, err := Build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Build is Program without a test. It must not be called by TestMain, before the tests run: then cached
// test results would not depend on the sources.
var Build = sync.OnceValues(func() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	// Listing the directories makes a cached test result depend on the sources.
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && name != root && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		return "", err
	}
	unlock, err := lock(root)
	if err != nil {
		return "", err
	}
	defer unlock()
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

// moduleRoot returns the nearest directory with a go.mod, from the directory of the test upwards.
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
