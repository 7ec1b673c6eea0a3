package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// hang is when a run counts as hanging. It takes a tenth of a second.
const hang = 90 * time.Second

// A result is how a run of the program has ended.
type result struct {
	code   int // exit status; -1: ended by a signal
	signal syscall.Signal
	stdout string
	stderr string
	took   time.Duration
}

// convert returns the arguments of the conversion that most rows disturb.
func convert(out string, flags ...string) []string { return convertFrom(sources, out, flags...) }

func convertFrom(sources []string, out string, flags ...string) []string {
	args := append([]string{"tar", "--shards", "3", "--progress", "none"}, flags...)
	return append(append(args, sources...), out)
}

// convertPacked is the same for compressed tars, with one worker.
func convertPacked(out string) []string {
	names, _ := packed() // packedReference reports its error
	return convertFrom(names, out, "-j1")
}

// packed are the sources, compressed.
var packed = sync.OnceValues(func() ([]string, error) { return compress(filepath.Join(base, "in-packed"), sources) })

// command returns a command that is killed when it hangs.
func command(name string, args ...string) (*exec.Cmd, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	return exec.CommandContext(ctx, name, args...), cancel
}

// run runs the program.
func run(args ...string) (result, error) { return execute(program(), args...) }

// execute runs any command. The error is that of a command that hangs or did not start.
func execute(name string, args ...string) (result, error) {
	cmd, cancel := command(name, args...)
	defer cancel()
	return finish(cmd, func() error { return cmd.Start() }, func(time.Time) {})
}

// finish starts a command, lets during do something to it, and waits for its end.
func finish(cmd *exec.Cmd, start func() error, during func(began time.Time)) (result, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	if err := start(); err != nil {
		return result{}, err
	}
	during(began)
	err := cmd.Wait()
	r := result{code: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String(), took: time.Since(began)}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.signal = status.Signal()
	}
	if r.took >= hang {
		return r, errors.New("hangs")
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = nil
	}
	return r, err
}

// clean says what is wrong with the way a run has failed: anything but one line.
func (r result) clean(codes ...int) error {
	for _, code := range codes {
		if r.code == code && strings.HasPrefix(r.stderr, "ffconvert: ") && strings.Count(r.stderr, "\n") == 1 && strings.HasSuffix(r.stderr, "\n") {
			return nil
		}
	}
	return fmt.Errorf("%v; want exit status %v and one line", r, codes)
}

func (r result) String() string {
	const longest = 600
	text := r.stderr
	if len(text) > longest {
		text = text[:longest] + "…"
	}
	if r.signal != 0 {
		return fmt.Sprintf("ended by %v: %q", r.signal, text)
	}
	return fmt.Sprintf("exit status %d: %q", r.code, text)
}

// again runs the conversion once more, undisturbed, and compares what it leaves.
func again(out string, flags ...string) error {
	want, err := reference()
	if err != nil {
		return err
	}
	return complete(out, want, convert(out, flags...))
}

// complete runs a command, undisturbed, and compares what is there then.
func complete(out string, want tree, args []string) error {
	r, err := run(args...)
	if err == nil && r.code != 0 {
		err = errors.New(r.String())
	}
	if err == nil {
		err = sound(out, want) // tells wrong bytes from those that were left behind
	}
	if err == nil {
		err = sameAs(out, want)
	}
	if err != nil {
		return fmt.Errorf("the same command again: %w", err)
	}
	return nil
}

var scratchNumber atomic.Int64

// scratch makes a directory for one case.
func scratch() (dir string, remove func(), err error) {
	dir = filepath.Join(base, fmt.Sprintf("case-%d", scratchNumber.Add(1)))
	return dir, func() { os.RemoveAll(dir) }, os.Mkdir(dir, 0o755)
}

// each runs cases, as many at once as there are CPUs, each with a directory of its own.
// It reports the first of those that fail.
func each(t *testing.T, which []int, one func(i int, dir string) error) tally {
	t.Helper()
	return atOnce(t, runtime.GOMAXPROCS(0), which, one)
}

// atOnce is each, with so many at once.
func atOnce(t *testing.T, workers int, which []int, one func(i int, dir string) error) tally {
	t.Helper()
	sum := tally{cases: len(which)}
	failed := 0
	var wg sync.WaitGroup
	var mu sync.Mutex
	next := make(chan int)
	for range workers {
		wg.Go(func() {
			for i := range next {
				dir, remove, err := scratch()
				if err == nil {
					err = one(i, dir)
				}
				remove()
				if err == nil {
					continue
				}
				mu.Lock()
				if failed++; failed <= mostShown {
					t.Errorf("case %d: %v", i, err)
				}
				if errors.Is(err, errBad) {
					sum.undetected++
				} else {
					sum.lost++
				}
				mu.Unlock()
			}
		})
	}
	for _, i := range which {
		next <- i
	}
	close(next)
	wg.Wait()
	if failed > mostShown {
		t.Errorf("and %d cases more", failed-mostShown)
	}
	return sum
}

// mostShown is how many failures are told of cases that are alike.
const mostShown = 5

// A tally is what a line of the fault table says.
type tally struct {
	cases      int
	undetected int // something that was not sound was shown as sound
	lost       int // not reported, not cleanly, or not made good by the same command
}

func (a tally) String() string {
	return fmt.Sprintf("cases=%d undetected=%d lost=%d", a.cases, a.undetected, a.lost)
}

func (a tally) plus(b tally) tally {
	return tally{a.cases + b.cases, a.undetected + b.undetected, a.lost + b.lost}
}
