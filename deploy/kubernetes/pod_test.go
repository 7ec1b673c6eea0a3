package kubernetes

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// A pod is one run of a job's container: its command and environment, and a directory for
// each of its volumes.
type pod struct {
	name string
	args []string
	env  []string
}

// A node is what a pod finds.
type node struct {
	places map[string]string   // directories and URLs for those of a container
	secret map[string][]string // environment variables, by the name of the Secret
}

// newPod returns the pod of a job, of an index where it is an indexed job, else −1.
func newPod(t *testing.T, job *batchv1.Job, index int, on node) *pod {
	t.Helper()
	c := container(t, job)
	p := &pod{name: job.Name, args: slices.Clone(c.Args)}
	for i, arg := range p.args {
		flag, value := arg[:strings.LastIndex(arg, "=")+1], arg[strings.LastIndex(arg, "=")+1:]
		if path.IsAbs(value) || strings.Contains(value, "://") {
			value = on.find(t, c, value)
		}
		p.args[i] = flag + value
	}
	// What the runtime sets, then what the job does. No HOME that can be written to, and no /tmp:
	// the image has none.
	env := map[string]string{
		"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/dev/null", "TMPDIR": "/no/such/directory",
		"KUBERNETES_PORT": "tcp://10.96.0.1:443", "KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443",
	}
	if index >= 0 {
		env["JOB_COMPLETION_INDEX"] = strconv.Itoa(index)
		p.name += "-" + strconv.Itoa(index)
	}
	env["HOSTNAME"] = p.name
	for _, e := range c.EnvFrom {
		if e.SecretRef == nil || e.Prefix != "" || on.secret[e.SecretRef.Name] == nil {
			t.Fatalf("%s: nothing gives %+v", job.Name, e)
		}
		for _, v := range on.secret[e.SecretRef.Name] {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
	}
	for _, e := range c.Env {
		if e.ValueFrom != nil {
			t.Fatalf("%s: env %s is not a value", job.Name, e.Name)
		}
		env[e.Name] = e.Value
	}
	for _, key := range slices.Sorted(maps.Keys(env)) {
		p.env = append(p.env, key+"="+env[key])
	}
	return p
}

// find returns where a path of a container lies, or what its URL is. A path that is in no volume would be in the
// image, which cannot be written to and has no data.
func (on node) find(t *testing.T, c *corev1.Container, name string) string {
	t.Helper()
	below := func(dir string) bool { return strings.HasPrefix(name+"/", dir+"/") }
	if path.IsAbs(name) && !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return below(m.MountPath) && m.SubPath == "" }) {
		t.Fatalf("%s lies in no volume", name)
	}
	for dir, to := range on.places {
		if below(dir) {
			return to + name[len(dir):]
		}
	}
	t.Fatalf("%s is no place of this test", name)
	return ""
}

// A fate is what becomes of a pod while it runs.
type fate struct {
	signal syscall.Signal // 0: none
	lines  int            // sent once it has said so much
	later  time.Duration  // and so long after
}

func (f fate) String() string {
	if f.signal == 0 {
		return "left alone"
	}
	return fmt.Sprintf("%v %v after line %d", f.signal, f.later, f.lines)
}

// An end is what came of a pod.
type end struct {
	status int // as a container's: 128 + signal where that ended it
	said   string
}

// run runs the pod to its end, or until ctx is done, which is an error.
func (p *pod) run(ctx context.Context, f fate) (end, error) {
	cmd := exec.CommandContext(ctx, program, p.args...)
	cmd.Dir, cmd.Env = "/", p.env
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return end{}, err
	}
	if err := cmd.Start(); err != nil {
		return end{}, err
	}
	var said strings.Builder
	lines := bufio.NewScanner(stderr)
	for n := 0; ; n++ {
		if f.signal != 0 && n == f.lines {
			// A process that has ended by then needs none.
			defer time.AfterFunc(f.later, func() { _ = cmd.Process.Signal(f.signal) }).Stop()
		}
		if !lines.Scan() {
			break
		}
		fmt.Fprintf(&said, "%s: %s\n", p.name, lines.Bytes())
	}
	err = cmd.Wait()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		err = nil
	}
	status := cmd.ProcessState.ExitCode()
	if w, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		status = 128 + int(w.Signal())
	}
	fmt.Fprintf(&said, "%s: %v, status %d\n", p.name, f, status)
	return end{status, said.String()}, errors.Join(ctx.Err(), lines.Err(), err)
}
