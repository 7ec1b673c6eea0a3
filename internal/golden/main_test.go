package golden

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

var update = flag.Bool("update", false, "write the files of testdata anew")

const root = "../.." // of the module

var base string // a directory that goes with the process: absolute, without links

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ffconvert-golden-")
	if err == nil {
		defer os.RemoveAll(dir)
		base, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "golden:", err)
		return 1
	}
	return m.Run()
}

// environment is all that the program is given, so that no variable of this machine changes what
// it does: no proxy, no profile, no metadata server, no scheduler. With GOMAXPROCS of 1,
// the default of -j, the first of several faults is always the same.
func environment(home string, more ...string) []string {
	return append([]string{
		"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + string(filepath.ListSeparator) + os.Getenv("PATH"), "TMPDIR=" + base, "GOMAXPROCS=1",
		"AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
		"NO_GCE_CHECK=true", "GCE_METADATA_HOST=127.0.0.1:1", "NO_PROXY=*",
	}, more...)
}

// An outcome is what a run of the program ended with.
type outcome struct {
	status         int
	stdout, stderr string
}

// run runs the program in a directory.
func run(t *testing.T, dir, stdin string, env []string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(need.Program(t), args...)
	cmd.Dir, cmd.Env = dir, environment(dir, env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// succeed runs the program, which must do what it is told.
func succeed(t *testing.T, dir string, args ...string) {
	t.Helper()
	if got := run(t, dir, "", nil, args...); got.status != 0 {
		t.Fatalf("ffconvert %s: status %d\n%s", strings.Join(args, " "), got.status, got.stderr)
	}
}
