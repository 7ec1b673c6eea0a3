package slurm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	nodes   = 4
	patient = 90 * time.Second // how long anything may take; all of it takes 15 seconds
)

// A cluster is munged, slurmctld and a slurmd a node, named n1 to n4. A node has the CPUs
// for one task as the batch script asks for it.
type cluster struct {
	t     *testing.T
	dir   string // what belongs to Slurm
	work  string // where jobs are submitted, and their logs are
	conf  string
	env   []string
	tools map[string]string
	named map[string]*daemon
}

// A daemon is a process that we have started.
type daemon struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// start starts a cluster that runs until the test ends.
func start(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, tools: tools(t), named: make(map[string]*daemon)}
	t.Cleanup(func() {
		c.stop()
		if t.Failed() {
			c.tell()
		}
		os.RemoveAll(c.dir)
	})
	var err error
	for range 5 { // a port may be another's by the time a daemon takes it
		if err = c.up(); err == nil {
			return c
		}
		c.stop()
	}
	t.Fatal(err)
	return nil
}

func (c *cluster) up() error {
	os.RemoveAll(c.dir)
	dir, err := os.MkdirTemp(base, "")
	if err != nil {
		return err
	}
	c.dir, c.work, c.conf = dir, filepath.Join(dir, "work"), filepath.Join(dir, "slurm.conf")
	c.env = environment("SLURM_CONF=" + c.conf)
	if err := c.configure(); err != nil {
		return err
	}
	socket := filepath.Join(dir, "socket")
	c.daemon("munged", "--foreground", "--force", "--origin=127.0.0.1", "--socket="+socket, "--key-file="+filepath.Join(dir, "key"),
		"--seed-file="+filepath.Join(dir, "seed"), "--log-file="+filepath.Join(dir, "munged.log"), "--pid-file="+filepath.Join(dir, "munged.pid"))
	if err := c.until("munged listens", func() bool {
		_, err := os.Stat(socket)
		return err == nil
	}); err != nil {
		return err
	}
	c.daemon("slurmctld", "-D")
	for i := range nodes {
		c.node(fmt.Sprintf("n%d", i+1))
	}
	return c.until("the nodes are idle", func() bool {
		out, err := c.command("sinfo", "--noheader", "--format=%D %T").Output()
		return err == nil && strings.TrimSpace(string(out)) == fmt.Sprint(nodes, " idle")
	})
}

func (c *cluster) node(name string) { c.daemonNamed(name, "slurmd", "-D", "-N", name) }

func (c *cluster) daemon(tool string, args ...string) { c.daemonNamed(tool, tool, args...) }

// daemonNamed starts a daemon. If this process is killed, so is the daemon.
func (c *cluster) daemonNamed(name, tool string, args ...string) {
	c.t.Helper()
	d := &daemon{c.command(tool, args...), make(chan struct{})}
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := d.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.named[name] = d
	go func() {
		d.cmd.Wait()
		close(d.ended)
	}()
}

func (d *daemon) kill() {
	d.cmd.Process.Kill()
	<-d.ended
}

// stop ends the daemons and all that they have started.
func (c *cluster) stop() {
	for name, d := range c.named {
		d.kill()
		delete(c.named, name)
	}
	for left := c.processes(); len(left) > 0; left = c.processes() {
		for _, p := range left {
			syscall.Kill(p.pid, syscall.SIGKILL)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// tell prints how the logs end.
func (c *cluster) tell() {
	for _, pattern := range []string{filepath.Join(c.dir, "*.log"), filepath.Join(c.work, "*.log")} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			text, err := os.ReadFile(name)
			if lines := strings.SplitAfter(string(text), "\n"); len(lines) > 40 {
				text = []byte(strings.Join(lines[len(lines)-40:], ""))
			}
			c.t.Logf("%s: %v\n%s", filepath.Base(name), err, text)
		}
	}
}
