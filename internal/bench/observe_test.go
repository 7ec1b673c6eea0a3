//go:build bench && linux

package bench

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// An observation is of a process that may live for some milliseconds.
type observation struct {
	seconds   float64 // wall time
	peak      int64   // VmHWM in bytes, as seen in the last millisecond
	first     float64 // seconds to its first line of standard error; 0: there was none
	firstPeak int64   // VmHWM then
}

type observations []observation

func (o observations) each(of func(observation) float64) series {
	var s series
	for _, one := range o {
		s = append(s, of(one))
	}
	return s
}

func took(o observation) float64 { return o.seconds }
func most(o observation) float64 { return float64(o.peak) }

// observe runs a command and looks at it every millisecond.
func observe(t *testing.T, name string, args ...string) (o observation) {
	t.Helper()
	cmd := exec.Command(name, args...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	peak := func() int64 {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		return field(status, "VmHWM:")
	}
	said := make(chan string, 1)
	go func() {
		in := bufio.NewReader(stderr)
		line, err := in.ReadString('\n')
		if err == nil {
			o.first, o.firstPeak = time.Since(start).Seconds(), peak()
		}
		rest, _ := io.ReadAll(in)
		said <- line + string(rest)
	}()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			o.peak = max(o.peak, peak())
		case rest := <-said:
			err := cmd.Wait()
			o.seconds = time.Since(start).Seconds()
			if err != nil {
				t.Fatalf("%s: %v\n%s", cmd, err, rest)
			}
			o.peak = max(o.peak, o.firstPeak)
			return o
		}
	}
}

// named are the system calls that look for a name, and those that a server of files must answer
// at once.
const named = "openat,newfstatat,statx,mkdirat,unlinkat,renameat,renameat2,linkat,readlinkat,faccessat,faccessat2,getdents64,fsync,flock"

// elsewhere is what is there on every machine, and read when a Go program starts.
var elsewhere = regexp.MustCompile(`"/(proc|sys|etc|usr|lib|dev)/`)

// operations runs the program under strace and counts what it asks a file system for, reads
// and writes aside.
func operations(t *testing.T, args []string) float64 {
	t.Helper()
	return calls(t, named, args)
}

// calls counts some system calls of the program.
func calls(t *testing.T, which string, args []string) float64 {
	t.Helper()
	trace := filepath.Join(work, "trace")
	execute(t, "strace", append([]string{"-f", "-o", trace, "-e", "trace=" + which, program}, args...)...)
	lines, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(lines)) {
		if strings.Contains(line, "(") && !strings.Contains(line, "resumed>") && !strings.Contains(line, "AT_EMPTY_PATH") && !elsewhere.MatchString(line) {
			n++
		}
	}
	return float64(n)
}
