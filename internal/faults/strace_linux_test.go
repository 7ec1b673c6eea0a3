package faults

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// ofRuntime are the system calls by which the Go runtime and package os manage threads, memory,
// signals and time, and look at the machine. No file of a dataset depends on them.
var ofRuntime = strings.Fields(`arch_prctl brk clone clone3 epoll_create1 epoll_ctl epoll_pwait eventfd2 execve exit exit_group
	futex getpid getrandom gettid ioctl madvise mmap mprotect munmap nanosleep pipe2 prctl prlimit64 pselect6 readlinkat
	restart_syscall rseq rt_sigaction rt_sigprocmask rt_sigreturn sched_getaffinity sched_yield set_robust_list set_tid_address
	sigaltstack tgkill timer_create timer_delete timer_settime uname clock_gettime`)

var callName = regexp.MustCompile(`(?m)^[0-9]+ +([a-z0-9_]+)\(`)

// named returns the name of a system call that strace shows. It shows the number of a call that is newer than
// itself.
func named(call string) string {
	for _, k := range kinds {
		if call == fmt.Sprintf("syscall_%#x", k.nr) {
			return k.name
		}
	}
	return call
}

// isCall tells whether strace's name is of a system call. A negative number is of none: the kernel does nothing
// for it. strace shows one, seldom, where a signal of the Go runtime interrupts a futex and it takes what the
// futex returned (-11, EAGAIN) for the number of the next call.
func isCall(name string) bool {
	hex, numbered := strings.CutPrefix(name, "syscall_0x")
	if !numbered {
		return true
	}
	nr, err := strconv.ParseUint(hex, 16, 64)
	return err != nil || int64(nr) >= 0
}

func TestIsCall(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"openat": true, "syscall_0x1c3": true, "syscall_0x7fffffffffffffff": true, "syscall_0x": true,
		"syscall_0xfffffffffffffff5": false, "syscall_0xffffffffffffffff": false,
	} {
		if got := isCall(name); got != want {
			t.Errorf("isCall(%q) = %v", name, got)
		}
	}
}

// TestFaultH7 looks with strace which system calls a run makes: each is one that row C1 makes fail.
func TestFaultH7(t *testing.T) {
	slow(t)
	t.Parallel()
	need.Tools(t, "strace")
	injected := make(map[string]bool)
	for _, f := range failings {
		injected[f.call] = true
	}
	dir := own(t)
	var sum tally
	seen := make(map[string]bool)
	trace := func(name string, args ...string) {
		sum.cases++
		file := filepath.Join(dir, "trace-"+name)
		r, err := execute("strace", append([]string{"-f", "-qq", "-e", "signal=none", "-o", file, program()}, args...)...)
		if err != nil || r.code != 0 {
			sum.lost++
			t.Errorf("%s: %v, %v", name, r, err)
			return
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range callName.FindAllStringSubmatch(string(text), -1) {
			if !isCall(m[1]) {
				t.Logf("%s: strace shows %s, which is no system call", name, m[1])
				continue
			}
			call := named(m[1])
			seen[call] = true
			if !injected[call] && !slices.Contains(ofRuntime, call) {
				injected[call] = true // told once
				sum.undetected++
				t.Errorf("%s: it calls %s, which row C1 does not make fail", name, call)
			}
		}
	}
	for _, c := range append(slices.Clone(conversions(t)), exports(t)...) {
		out := filepath.Join(dir, "out-"+c.name)
		trace(c.name, c.args(out)...)
		trace(c.name+" again", c.args(out)...)
	}
	out := filepath.Join(dir, "out-tar")
	trace("verify", "verify", "--progress", "none", "--backend", "aio", out)
	trace("repair", "repair", "--progress", "none", out)
	trace("finish", "finish", "--progress", "none", out)
	for _, call := range []string{"openat", "pwrite64", "fsync", "newfstatat", "fstat", "io_submit"} {
		if !seen[call] {
			t.Errorf("strace did not see %s: %v", call, slices.Sorted(maps.Keys(seen)))
		}
	}
	t.Logf("H7 %v calls=%d", sum, len(seen))
}
