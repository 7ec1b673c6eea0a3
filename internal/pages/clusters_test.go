package pages

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

// recipe runs the commands of a section of docs/clusters.md in dir as they are printed, and compares what they make with what
// one process makes.
func (d *docsFolder) recipe(t *testing.T, dir, section string, env ...string) {
	t.Helper()
	_, text, _ := strings.Cut(docsPage(t, "clusters.md"), "\n## "+section+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	lines := regexp.MustCompile(`(?m)^    (.+)$`).FindAllStringSubmatch(text, -1)
	if len(lines) != 3 {
		t.Fatalf("%d lines", len(lines))
	}
	here := *d
	here.env = append(here.env[:len(here.env):len(here.env)], env...)
	here.run(t, dir, "rm -r out")
	for _, line := range lines {
		here.run(t, dir, line[1])
	}
	here.run(t, dir, "ffconvert tar -q --shards 40 'shards-{000..009}.tar' want && ffconvert diff out want && for f in want/*.ffr; do cmp $f out/${f#want/}; done && ffconvert verify out")
}

// The recipes of docs/clusters.md for Dask and GNU parallel. All hosts are this machine.
func TestRecipesOfDocsClusters(t *testing.T) {
	t.Parallel()
	need.Time(t, "a cluster of Dask, and forty processes of GNU parallel")
	need.Tools(t, "parallel", "diff")
	interpreter := python.Path(t, "distributed")
	data, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	d := newDocsFolder(t)
	t.Run("Dask", func(t *testing.T) {
		t.Parallel()
		dir := d.fresh(t)
		cluster := exec.CommandContext(t.Context(), interpreter, filepath.Join(data, "cluster.py"))
		cluster.Dir, cluster.Env, cluster.Stderr = dir, d.env, t.Output()
		stdin, err := cluster.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cluster.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cluster.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			stdin.Close()
			if err := cluster.Wait(); err != nil {
				t.Error(err)
			}
		}()
		port, err := bufio.NewReader(stdout).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		d.recipe(t, dir, "Dask", "PYTHONPATH="+filepath.Join(data, "scheduler"), "SCHEDULER_PORT="+strings.TrimSpace(port))
	})
	t.Run("GNU parallel", func(t *testing.T) {
		t.Parallel()
		script, err := os.ReadFile(filepath.Join(data, "ssh"))
		if err != nil {
			t.Fatal(err)
		}
		bin := t.TempDir()
		if err := os.WriteFile(filepath.Join(bin, "ssh"), script, 0o700); err != nil {
			t.Fatal(err)
		}
		d.recipe(t, d.fresh(t), "GNU parallel", "PATH="+bin+":"+d.path)
		hosts, err := os.ReadFile(filepath.Join(bin, "hosts"))
		if n, m := strings.Count(string(hosts), "node1\n"), strings.Count(string(hosts), "node2\n"); err != nil || n == 0 || m == 0 || n+m != 40 {
			t.Errorf("%d commands for node1, %d for node2; %v", n, m, err)
		}
	})
}
