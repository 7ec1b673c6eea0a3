package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// What all tests share: a directory, and the program in it.
var (
	base    string // absolute, without links, readable by all
	program string
)

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ffslurm-") // short: a socket's path has 108 bytes
	if err == nil {
		defer os.RemoveAll(dir)
		base, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		err = os.Chmod(base, 0o755) // munged wants its socket to be within everybody's reach
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "slurm:", err)
		return 1
	}
	return m.Run()
}

// tools are the programs by name. Ours is copied to where the users of Slurm's daemons may read it.
func tools(t *testing.T) map[string]string {
	t.Helper()
	found := make(map[string]string)
	for _, name := range []string{"munged", "slurmctld", "slurmd", "sbatch", "scancel", "scontrol", "sinfo", "squeue"} {
		found[name] = need.Tool(t, name)
	}
	if err := install(); err != nil {
		t.Fatal(err)
	}
	found["ffconvert"] = program
	return found
}

var install = sync.OnceValue(func() error {
	built, err := need.Build()
	if err != nil {
		return err
	}
	data, err := os.ReadFile(built)
	if err == nil {
		program = filepath.Join(base, "bin", "ffconvert")
		err = os.MkdirAll(filepath.Dir(program), 0o755)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(program, data, 0o755)
})

// environment is ours without what would lead Slurm or ffconvert elsewhere, and with more.
func environment(more ...string) []string {
	var env []string
	for _, v := range os.Environ() {
		keep := true
		for _, prefix := range []string{"SLURM", "SBATCH_", "SQUEUE_", "SINFO_", "SCANCEL_", "SCONTROL_", "FFCONVERT_", "WDS_", "PATH="} {
			keep = keep && !strings.HasPrefix(v, prefix)
		}
		if keep {
			env = append(env, v)
		}
	}
	path := filepath.Dir(program) + string(os.PathListSeparator) + os.Getenv("PATH") + string(os.PathListSeparator) + "/usr/sbin"
	return append(append(env, "PATH="+path), more...)
}
