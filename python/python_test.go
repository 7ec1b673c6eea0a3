// Package python_test runs the tests of the Python package beside it.
package python_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

// TestPackage runs each file of tests/ in a process of its own with the native helper, and those that need no numbers also without it and without the
// modules that the package can do without.
func TestPackage(t *testing.T) {
	t.Parallel()
	readAll(t, packageFiles...)
	native := "FFCONVERT_NATIVE=" + helper(t, "linux-"+runtime.GOARCH)
	for name, text := range readAll(t, "tests/*.py") {
		module, ok := strings.CutPrefix(strings.TrimSuffix(filepath.Base(name), ".py"), "test_")
		if !ok {
			continue
		}
		t.Run(module, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(text, "import torch") {
				need.Time(t, "processes that load PyTorch")
				runTests(t, module, []string{native}, "torch", "numpy", "msgpack", "cbor2")
				return
			}
			runTests(t, module, []string{native}, "numpy", "msgpack", "cbor2")
		})
		if strings.Contains(text, "support.PLAIN") {
			t.Run(module+" of the standard library alone", func(t *testing.T) {
				t.Parallel()
				runTests(t, module, []string{"FFCONVERT_PLAIN=1", "FFCONVERT_NATIVE=0"})
			})
		}
	}
}

// packageFiles are patterns of the files of the package.
var packageFiles = []string{"ffconvert/*.py", "ffconvert/*/*.py", "ffconvert/*/*/*.py"}

// readAll reads files, so that a cached test result depends on them.
func readAll(t *testing.T, patterns ...string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	for _, pattern := range patterns {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = string(text)
		}
	}
	return files
}

// runTests runs a file of tests/ that needs modules. env is what its process has beside the environment.
func runTests(t *testing.T, module string, env []string, modules ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // a test that hangs ends earlier, by itself
	defer cancel()
	cmd := exec.CommandContext(ctx, python.Path(t, modules...), "-m", "unittest", "tests.test_"+module)
	cmd.Env = append(os.Environ(), "FFCONVERT="+need.Program(t), "PYTHONDONTWRITEBYTECODE=1", "PYTHONUTF8=1")
	cmd.Env = append(cmd.Env, env...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("\nOK\n")) {
		t.Errorf("%s: %v\n%s", cmd, err, out)
	}
}
