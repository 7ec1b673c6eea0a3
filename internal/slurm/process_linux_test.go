package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A process is one of a cluster's: a daemon, or of a job.
type process struct {
	pid int
	env []string
}

// processes returns those that have the cluster's configuration in their environment.
func (c *cluster) processes() []process {
	var found []process
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(name, "environ"))
		if err != nil {
			continue // it is not ours, or is no more
		}
		env := strings.Split(string(data), "\x00")
		pid, err := strconv.Atoi(filepath.Base(name))
		if err == nil && slices.Contains(env, "SLURM_CONF="+c.conf) {
			found = append(found, process{pid, env})
		}
	}
	return found
}

func (p process) variable(name string) string {
	for _, v := range p.env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

func (p process) proc(name string) string { return filepath.Join("/proc", strconv.Itoa(p.pid), name) }

// writes says whether the process has the temporary file of a shard open.
func (p process) writes(out string) bool {
	open, _ := filepath.Glob(p.proc("fd/*"))
	return slices.ContainsFunc(open, func(fd string) bool {
		name, err := os.Readlink(fd)
		return err == nil && strings.HasPrefix(name, filepath.Join(out, ".ffconvert", "tmp")+string(os.PathSeparator)) && strings.HasSuffix(name, ".ffr.tmp")
	})
}

// status returns a line of /proc/PID/status, without its name; of no process, nothing.
func (p process) status(line string) string {
	data, err := os.ReadFile(p.proc("status"))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut("\n"+string(data), "\n"+line+":\t")
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

// parent returns the process that has started this one.
func (p process) parent() (process, error) {
	pid, err := strconv.Atoi(p.status("PPid"))
	if err != nil || pid <= 1 {
		return process{}, fmt.Errorf("process %d has no parent", p.pid)
	}
	return process{pid: pid}, nil
}

// hold stops a task while it has a shard of out half written: one of those that may be. The
// task stays like that until it is killed or told to go on. It returns false if none was seen to write
// before all jobs had ended.
func (c *cluster) hold(out string, may func(process) bool) (process, bool) {
	c.t.Helper()
	out = filepath.Join(c.work, out)
	deadline, asked := time.Now().Add(patient), time.Now()
	for ; time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		for _, p := range c.processes() {
			if exe, err := os.Readlink(p.proc("exe")); err == nil && exe == program && may(p) && p.stepTo(out) {
				return p, true
			}
		}
		if time.Since(asked) > time.Second {
			asked = time.Now()
			if c.idle() {
				break
			}
		}
	}
	return process{}, false
}

// beginHeld is begin, and hold of one of its tasks. On a busy machine all tasks may write unseen: then the
// conversion is begun again.
func (c *cluster) beginHeld(may func(process) bool, tasks ...string) (chain, process) {
	c.t.Helper()
	for range 4 {
		jobs := c.begin(tasks...)
		if task, seen := c.hold(out, may); seen {
			return jobs, task
		}
		c.drained()
		if err := os.RemoveAll(filepath.Join(c.work, out)); err != nil {
			c.t.Fatal(err)
		}
	}
	c.t.Fatal("no task was seen to write a shard before all jobs had ended")
	return chain{}, process{}
}

// stepTo lets a process run for a moment at a time, until it writes or has ended.
func (p process) stepTo(out string) bool {
	deadline := time.Now().Add(patient)
	for syscall.Kill(p.pid, syscall.SIGSTOP) == nil {
		for state := ""; !strings.HasPrefix(state, "T"); time.Sleep(50 * time.Microsecond) {
			if state = p.status("State"); state == "" || strings.HasPrefix(state, "Z") || time.Now().After(deadline) {
				return false
			}
		}
		if p.writes(out) {
			return true
		}
		syscall.Kill(p.pid, syscall.SIGCONT)
		time.Sleep(200 * time.Microsecond)
	}
	return false
}
