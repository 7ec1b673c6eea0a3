package slurm

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// command returns a command of Slurm, of our own, or of deploy/slurm, as a user would call it.
func (c *cluster) command(name string, args ...string) *exec.Cmd {
	if path, ok := c.tools[name]; ok {
		name = path
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = c.work, c.env
	return cmd
}

// output runs a command that must succeed and returns its standard output.
func (c *cluster) output(name string, args ...string) string {
	c.t.Helper()
	cmd := c.command(name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		c.t.Fatalf("%s %q: %v\n%s%s", name, args, err, out, &stderr)
	}
	return strings.TrimSpace(string(out))
}

// until waits for something. No daemon may end meanwhile.
func (c *cluster) until(what string, so func() bool) error {
	for deadline := time.Now().Add(patient); !so(); time.Sleep(20 * time.Millisecond) {
		for name, d := range c.named {
			select {
			case <-d.ended:
				return fmt.Errorf("before %s: %s has ended: %v", what, name, d.cmd.ProcessState)
			default:
			}
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not in %v: %s", patient, what)
		}
	}
	return nil
}

func (c *cluster) await(what string, so func() bool) {
	c.t.Helper()
	if err := c.until(what, so); err != nil {
		c.t.Fatal(err)
	}
}
