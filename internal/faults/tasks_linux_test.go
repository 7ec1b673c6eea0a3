package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestFaultB6 lets tasks write one plan, several at once and some twice, kills them at random
// moments, and has others write what is left: with the locks of the kernel, and on what looks
// like a file system without locks and without a rename that never replaces.
func TestFaultB6(t *testing.T) {
	slow(t)
	t.Parallel()
	for _, c := range conversions(t) {
		n := cases(100, 4)
		if c.name == "tar" {
			n = cases(300, 10)
		}
		t.Logf("B6 [%s] %v", c.name, histories(t, c, n, program()))
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("B6 [no-locks] %v", histories(t, conversions(t)[0], cases(200, 6), self, withoutLocks, program()))
}

// histories runs n histories of a conversion by tasks; how starts the program.
func histories(t *testing.T, c conversion, n int, how ...string) string {
	t.Helper()
	takes := typicalOf(t, c.args)
	var killed atomic.Int64
	sum := each(t, spread(n, n), func(i int, dir string) error {
		h := history{conversion: c, how: how, out: filepath.Join(dir, "out"), rng: rand.New(rand.NewPCG(uint64(i), 6)), takes: takes, killed: &killed}
		if err := h.run(); err != nil {
			return fmt.Errorf("%s, history %d: %w", c.name, i, err)
		}
		return nil
	})
	return fmt.Sprintf("%v killed=%d", sum, killed.Load())
}

// A history is what happens to one plan.
type history struct {
	conversion
	how    []string
	out    string
	rng    *rand.Rand
	takes  time.Duration // of an undisturbed conversion
	killed *atomic.Int64
}

func (h *history) run() error {
	if err := h.must(append([]string{"plan"}, h.args(h.out)...)...); err != nil {
		return err
	}
	for range 1 + h.rng.IntN(3) {
		if err := h.round(1+h.rng.IntN(4), true); err != nil {
			return err
		}
		if err := sound(h.out, h.want); err != nil {
			return err
		}
		if err := h.must("status", h.out); err != nil {
			return err
		}
	}
	if h.rng.IntN(4) == 0 { // what is left, another way
		if err := h.must(h.args(h.out)...); err != nil {
			return err
		}
		return sameAs(h.out, h.want)
	}
	if err := h.round(1+h.rng.IntN(3), false); err != nil {
		return err
	}
	if err := h.must("finish", "--progress", "none", h.out); err != nil {
		return err
	}
	return sameAs(h.out, h.want)
}

// round runs some tasks at once. They are disturbed, or they are all tasks of n, one of them
// twice.
func (h *history) round(n int, disturbed bool) error {
	var tasks []string
	var moments []time.Duration // when each is killed; negative: it is not
	for k := range n {
		of := n
		if disturbed {
			of = 1 + h.rng.IntN(5)
			k = h.rng.IntN(of)
		}
		moment := time.Duration(-1)
		if disturbed && h.rng.IntN(3) > 0 {
			moment = time.Duration(h.rng.Int64N(int64(h.takes)))
		}
		tasks, moments = append(tasks, fmt.Sprintf("%d/%d", k, of)), append(moments, moment)
	}
	if !disturbed {
		tasks, moments = append(tasks, tasks[0]), append(moments, -1)
	}
	errs := make([]error, len(tasks))
	var all sync.WaitGroup
	for i := range tasks {
		all.Go(func() { errs[i] = h.task(tasks[i], moments[i]) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// task runs one task, and kills it at a moment.
func (h *history) task(name string, moment time.Duration) error {
	cmd, cancel := command(h.how[0], append(h.how[1:len(h.how):len(h.how)], "run", "--progress", "none", "-j1", "--task", name, h.out)...)
	defer cancel()
	r, err := finish(cmd, cmd.Start, func(began time.Time) {
		if moment >= 0 {
			time.Sleep(time.Until(began.Add(moment)))
			cmd.Process.Kill()
		}
	})
	switch {
	case err != nil:
		return err
	case r.signal == syscall.SIGKILL && moment >= 0:
		h.killed.Add(1)
	case r.code != 0:
		return fmt.Errorf("task %s: %v", name, r)
	}
	return nil
}

// must runs the program, undisturbed.
func (h *history) must(args ...string) error {
	r, err := execute(h.how[0], append(h.how[1:len(h.how):len(h.how)], args...)...)
	if err == nil && r.code != 0 {
		err = fmt.Errorf("%s: %v", args[0], r)
	}
	return err
}

// withoutLocks is the first argument of a test binary that becomes the program that follows,
// under a kernel that knows neither flock nor renameat2, as some network file systems do not.
const withoutLocks = "-faults.without-locks"

// launchWithout becomes the program in the arguments behind withoutLocks.
func launchWithout(args []string) error {
	answers := []struct {
		nr    int
		errno syscall.Errno
	}{{unix.SYS_FLOCK, unix.ENOSYS}, {unix.SYS_RENAMEAT2, unix.EINVAL}}
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the number
	for _, a := range answers {
		program = append(program,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: uint32(a.nr)},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(a.errno)})
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return syscall.Exec(args[0], args, os.Environ())
}
