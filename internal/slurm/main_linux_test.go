package slurm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
	if err == nil {
		program = filepath.Join(base, "bin", "ffconvert")
		build := exec.Command("go", "build", "-o", program, "../../cmd/ffconvert")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		build.Stderr = os.Stderr
		err = build.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "slurm:", err)
		return 1
	}
	return m.Run()
}

// tools are the programs by name. Daemons may lie where only root looks.
func tools(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{"ffconvert": program}
	for _, name := range []string{"munged", "slurmctld", "slurmd", "sbatch", "scancel", "scontrol", "sinfo", "squeue"} {
		path, err := exec.LookPath(name)
		if err != nil {
			path, err = exec.LookPath(filepath.Join("/usr/sbin", name))
		}
		switch {
		case err == nil:
		case os.Getenv("CI") != "":
			t.Fatal(err)
		default:
			t.Skip(err)
		}
		found[name] = path
	}
	return found
}

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
