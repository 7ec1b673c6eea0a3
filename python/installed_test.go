package python_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

// A venv is a directory with a virtual environment. Commands run in the directory.
type venv struct {
	dir string
	env []string
}

// newVenv makes a virtual environment and a wheel for it in dist. Of other modules it has those of the system, such as PyTorch; of the tree it has nothing.
func newVenv(t *testing.T) *venv {
	t.Helper()
	v := &venv{dir: t.TempDir()}
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "PYTHON") && !strings.HasPrefix(e, "PIP_") {
			v.env = append(v.env, e)
		}
	}
	// With one thread for each process, sums have the same order again.
	v.env = append(v.env, "PATH="+v.path("venv", "bin")+":"+os.Getenv("PATH"), "TMPDIR="+v.dir, "PIP_DISABLE_PIP_VERSION_CHECK=1",
		"PIP_CACHE_DIR="+v.dir, "PYTHONNOUSERSITE=1", "PYTHONUTF8=1", "OMP_NUM_THREADS=1", "GLOO_SOCKET_IFNAME=lo")
	if out, err := exec.Command(python.Path(t), "-m", "venv", "--system-site-packages", v.path("venv")).CombinedOutput(); err != nil {
		need.Missing(t, "python3-venv: ", err, string(out))
	}
	thisWheel(t, v.path("dist"))
	return v
}

func (v *venv) write(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(v.path(name)), 0o777), os.WriteFile(v.path(name), []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
}

func (v *venv) path(parts ...string) string {
	return filepath.Join(append([]string{v.dir}, parts...)...)
}

// command is a line of a shell. Cancel kills all its processes, and is called after 3 minutes.
func (v *venv) command(t *testing.T, line string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env, cmd.SysProcAttr, cmd.WaitDelay = v.dir, v.env, &syscall.SysProcAttr{Setpgid: true}, 10*time.Second
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

func (v *venv) run(t *testing.T, line string) string {
	t.Helper()
	cmd := v.command(t, line)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return strings.TrimSpace(string(out))
}

// read is a file of the tree.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// at returns a directory of the environment, with links to what is in the environment's own.
func (v *venv) at(t *testing.T, name string, links ...string) *venv {
	t.Helper()
	if err := os.Mkdir(v.path(name), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if err := os.Symlink(v.path(link), v.path(name, link)); err != nil {
			t.Fatal(err)
		}
	}
	return &venv{v.path(name), v.env}
}

// TestInstalled runs the commands and the Python of docs/training.md and README.md as they are printed: they install the wheel, make shards
// and train on them. make wheel takes minutes, and TestWheelOfAnotherSystem runs it.
func TestInstalled(t *testing.T) {
	t.Parallel()
	need.Time(t, "makes a virtual environment, and trains in it")
	page := read(t, "docs/training.md")
	block := regexp.MustCompile("(?m)^    make wheel.*\n((?:    .+\n)+)").FindStringSubmatch(page)
	if block == nil {
		t.Fatal("docs/training.md has no commands after make wheel")
	}
	lines := strings.Split(strings.TrimSuffix(block[1], "\n"), "\n")
	if len(lines) != 5 {
		t.Fatalf("docs/training.md has other commands: %q", lines)
	}
	v := newVenv(t)
	tars, err := filepath.Glob(filepath.Join("..", "testdata", "shards-*.tar"))
	if err != nil || len(tars) != 10 {
		t.Fatal(tars, err)
	}
	for _, name := range tars {
		v.write(t, "testdata/"+filepath.Base(name), read(t, "testdata/"+filepath.Base(name)))
	}
	v.write(t, "examples/train.py", read(t, "examples/train.py"))
	v.run(t, lines[0])
	v.run(t, lines[1])
	v.run(t, "python3 -m ffconvert verify out")
	if out := v.run(t, "python3 -m ffconvert --version"); !strings.HasPrefix(out, "ffconvert ") {
		t.Error(out)
	}
	if out := v.run(t, "python3 -c 'import ffconvert; print(ffconvert.__file__, len(ffconvert.Reader(\"out\")))'"); !strings.HasPrefix(out, v.path("venv")) || !strings.HasSuffix(out, " 120") {
		t.Errorf("the package is %s", out)
	}
	if out := v.run(t, "python3 -c 'import ffconvert; print(ffconvert.info()[\"native helper\"])'"); !strings.HasPrefix(out, v.path("venv")) || !strings.HasSuffix(out, "/libffconvert.so") {
		t.Errorf("the native helper is %s", out)
	}
	t.Run("training", func(t *testing.T) {
		python.Path(t, "torch", "numpy")
		if !strings.Contains(page, "```python\n"+read(t, "examples/train.py")+"```\n") {
			t.Error("docs/training.md does not show examples/train.py as it is")
		}
		testTraining(t, v, lines[2], lines[3], lines[4])
		testBlocks(t, v, "docs/training.md")
		lines := strings.Split(testBlocks(t, v, "README.md"), "\n")
		var epoch, right, all int
		if _, err := fmt.Sscanf(lines[len(lines)-1], "epoch %d right: %d of %d", &epoch, &right, &all); err != nil || len(lines) != 10 || epoch != 9 || all != 120 || right < 108 {
			t.Errorf("the loop of README.md prints %q: %v", lines, err)
		}
	})
	v.run(t, "pip uninstall -q -y ffconvert")
	if out := v.run(t, "find venv -path '*ffconvert*'"); out != "" {
		t.Errorf("left behind: %s", out)
	}
}

var frameworks = regexp.MustCompile("(?s)\n## Frameworks\n.*?\n## ")

// testBlocks runs the Python of a page beside the dataset out as it is printed, each block in a process, and returns what it prints.
// examples/train.py, which a page shows, was run before; tests/test_frameworks.py runs the section on frameworks, which are not installed.
func testBlocks(t *testing.T, v *venv, page string) (printed string) {
	t.Helper()
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(frameworks.ReplaceAllString(read(t, page), ""), -1) {
		if block[1] != read(t, "examples/train.py") {
			v.write(t, "page.py", block[1])
			printed += v.run(t, "python3 page.py")
			ran++
		}
	}
	if ran == 0 {
		t.Errorf("%s has no Python", page)
	}
	return printed
}
