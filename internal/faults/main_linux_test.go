package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What all tests share: a directory, the program, and the tars that it converts.
var (
	base    string // absolute, without links
	program string
	sources []string // 3 tars of 40 samples
)

func TestMain(m *testing.M) {
	if os.Getenv(launchEnv) != "" {
		fmt.Fprintln(os.Stderr, launch())
		os.Exit(127)
	}
	if len(os.Args) > 2 && os.Args[1] == withoutLocks {
		fmt.Fprintln(os.Stderr, launchWithout(os.Args[2:]))
		os.Exit(127)
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ffconvert-faults-")
	if err == nil {
		defer os.RemoveAll(dir)
		base, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		program = filepath.Join(base, "ffconvert")
		build := exec.Command("go", "build", "-o", program, "../../cmd/ffconvert")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		build.Stderr = os.Stderr
		err = build.Run()
	}
	if err == nil {
		sources, err = writeSources(filepath.Join(base, "in"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		return 1
	}
	return m.Run()
}

// full says that the numbers of the fault table are wanted.
var full = os.Getenv("FFCONVERT_FAULTS") != ""

// cases returns how many cases of a row to run.
func cases(all, some int) int {
	if full {
		return all
	}
	return some
}

// spread returns which of the cases 0…n-1 to run: all of them, or so many, evenly.
func spread(n, some int) []int {
	if full || some >= n {
		some = n
	}
	which := make([]int, some)
	for i := range which {
		which[i] = i * n / some
	}
	return which
}

// need skips a test where a tool is missing. Continuous integration has them all.
func need(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			missing(t, err.Error())
		}
	}
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}
