package faults

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// interpreter is Debian's Python, which has numpy.
const interpreter = "/usr/bin/python3"

// TestFaultI3 has the Python package read hostile files and directories in one process of 512 MiB of address space:
// python/tests/hostile.py has the cases and judges them.
func TestFaultI3(t *testing.T) {
	slow(t)
	t.Parallel()
	if out, err := exec.Command(interpreter, "-c", "import numpy, msgpack").CombinedOutput(); err != nil {
		need.Missing(t, fmt.Sprintf("%s: %v\n%s", interpreter, err, out))
	}
	args := []string{"-m", "tests.hostile"}
	if full {
		args = append(args, "--full")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute) // a case that hangs ends by itself
	defer cancel()
	cmd := exec.CommandContext(ctx, interpreter, args...)
	cmd.Dir = filepath.Join("..", "..", "python")
	cmd.Env = append(os.Environ(), "FFCONVERT="+program(), "TMPDIR="+t.TempDir(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONUTF8=1", "OPENBLAS_NUM_THREADS=1")
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, &stderr)
	}
	rows := 0
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		switch line := s.Text(); {
		case strings.HasPrefix(line, "    "):
			t.Error(strings.TrimSpace(line))
		default:
			t.Log(line)
			if rows++; !strings.Contains(line, " undetected=0 lost=0 ") {
				t.Error("not met: " + line)
			}
		}
	}
	if rows != 2 {
		t.Errorf("%d rows\n%s", rows, &stderr)
	}
}
