//go:build unix

package packed

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// killer is a Progress that kills its process at a step.
type killer struct{ left int }

func (k *killer) Start(string, int64) { k.step() }
func (k *killer) Add(int64, int64)    { k.step() }

func (k *killer) step() {
	if k.left--; k.left < 0 {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
}

// TestKilled runs itself, kills the work half way, and looks at what is there; then the
// same work is done.
func TestKilled(t *testing.T) {
	if work := os.Getenv("PACKED_TEST_WORK"); work != "" {
		dir, file, dst := work+"/in", work+"/out/out.ffr", work+"/out/dst"
		if os.Getenv("PACKED_TEST_PACK") != "" {
			Write(t.Context(), dir, file, WriteOptions{Progress: &killer{left: 6}})
		} else {
			open(t, file).Extract(t.Context(), dst, ExtractOptions{Progress: &killer{left: 6}})
		}
		t.Fatal("not killed")
	}
	t.Parallel()
	work := t.TempDir()
	must(t, os.Mkdir(work+"/in", 0o755))
	must(t, os.Mkdir(work+"/out", 0o755))
	small().make(t, work+"/in")
	killed := func(env ...string) {
		t.Helper()
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(append(os.Environ(), "PACKED_TEST_WORK="+work), env...)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	visible := func() (names []string) {
		for _, name := range list(t, work+"/out") {
			if !strings.HasPrefix(name, ".ffconvert-") || strings.HasSuffix(name, ".ffr") {
				names = append(names, name)
			}
		}
		return names
	}

	killed("PACKED_TEST_PACK=1")
	if got := visible(); len(got) > 0 {
		t.Errorf("a killed Write left %q", got)
	}
	file := filepath.Join(work, "out", "out.ffr")
	if _, err := Write(t.Context(), work+"/in", file, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	killed()
	if got := visible(); len(got) != 1 {
		t.Errorf("a killed Extract left %q", got)
	}
	_, err := open(t, file).Extract(t.Context(), work+"/out/dst", ExtractOptions{})
	must(t, err)
	same(t, treeOf(t, os.DirFS(work+"/out/dst")), small())
}
