//go:build bench && linux

package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A process is what a command that has succeeded took and gave.
type process struct {
	seconds float64 // wall time
	cpu     float64 // seconds of processors: user and system
	faults  int64   // page faults that read nothing
	stdout  []byte
	anon    int64 // most anonymous memory in bytes, where it was watched
	peak    int64 // VmHWM: with the pages of files too
}

// runs are those of one contender, one a round.
type runs []process

func (r runs) seconds() series { return r.each(func(p process) float64 { return p.seconds }) }
func (r runs) cpu() series     { return r.each(func(p process) float64 { return p.cpu }) }

func (r runs) each(of func(process) float64) series {
	s := make(series, len(r))
	for i, p := range r {
		s[i] = of(p)
	}
	return s
}

// execute runs a command to its end.
func execute(t *testing.T, name string, args ...string) process {
	t.Helper()
	return finish(t, exec.Command(name, args...), false)
}

// timed is work of this process, as if it were another's.
func timed(work func()) process {
	start := time.Now()
	work()
	return process{seconds: time.Since(start).Seconds()}
}

// watch runs the program and looks at its memory all the time.
func watch(t *testing.T, args ...string) process {
	t.Helper()
	return finish(t, exec.Command(program, args...), true)
}

func finish(t *testing.T, cmd *exec.Cmd, watched bool) (p process) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var tick <-chan time.Time
	if watched {
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-tick:
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			p.anon = max(p.anon, field(status, "RssAnon:")+field(status, "RssShmem:"))
			p.peak = max(p.peak, field(status, "VmHWM:"))
		case err := <-ended:
			p.seconds = time.Since(start).Seconds()
			if err != nil {
				t.Fatalf("%s: %v\n%s", cmd, err, stderr.Bytes())
			}
			p.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
			p.faults = cmd.ProcessState.SysUsage().(*syscall.Rusage).Minflt
			p.stdout = stdout.Bytes()
			return p
		}
	}
}

// field returns the bytes that a line of /proc/PID/status says, 0 where it says none.
func field(status []byte, name string) (n int64) {
	if _, after, ok := strings.Cut(string(status), name); ok {
		fmt.Sscanf(after, "%d kB", &n)
	}
	return n << 10
}
