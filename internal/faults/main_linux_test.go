package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// What all tests share: a directory, the program, and the tars that it converts.
var (
	base    string   // absolute, without links
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

// program is the path of ffconvert, built as the first test that runs it begins.
func program() string {
	path, err := need.Build()
	if err != nil {
		panic(err)
	}
	return path
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ffconvert-faults-")
	if err == nil {
		defer os.RemoveAll(dir)
		base, err = filepath.EvalSymlinks(dir)
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

// slow leaves a test out of -short.
func slow(t *testing.T) {
	t.Helper()
	need.Time(t, "the program is run again and again, and killed, or its calls fail")
}

// long leaves a test out of what a contributor runs; make faults and CI run it.
func long(t *testing.T) {
	t.Helper()
	if !full {
		need.Long(t, "each call of the program fails once")
	}
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
