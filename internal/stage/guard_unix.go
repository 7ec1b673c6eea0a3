//go:build linux || darwin

package stage

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
)

// Guard is the first call of the main function of a program that has [Options].Guarded set. In a
// process that guards a command it does that and does not return; in any other it returns at once.
func Guard() {
	if os.Args[0] == guardName && len(os.Args) > 1 && syscall.Getpgrp() == os.Getpid() {
		guard(os.Args[1:])
		os.Exit(0)
	}
}

// guard runs a command to its end.
func guard(args []string) {
	runtime.LockOSThread() // the kernel kills the command when the thread that started it ends: see dieWithParent
	// Signals are for the command. They are caught, and not ignored, since it would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	lifeline, report := os.NewFile(lifelineFD, "lifeline"), os.NewFile(reportFD, "report")
	syscall.CloseOnExec(lifelineFD)
	syscall.CloseOnExec(reportFD)
	go func() {
		io.Copy(io.Discard, lifeline) // to its end: nothing is ever written to it
		syscall.Kill(0, syscall.SIGKILL)
	}()
	cmd := &exec.Cmd{Path: args[0], Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, SysProcAttr: dieWithParent()}
	if err := cmd.Start(); err != nil {
		var errno syscall.Errno
		errors.As(err, &errno)
		tell(report, guardFailed, uint32(errno))
		return
	}
	tell(report, guardStarted, 0)
	os.Stdin.Close()  // held by the command alone, so that a write fails when the command has closed it
	os.Stdout.Close() // the command's alone: its end is the end of the output
	os.Stderr.Close()
	cmd.Wait() // the status says all
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok {
		tell(report, guardEnded, uint32(status))
	}
}

// self is the path of this program; "": it is not known, and nothing is guarded.
func self() string {
	const running = "/proc/self/exe" // even where the file has another content by now
	if _, err := os.Stat(running); err == nil {
		return running
	}
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}

// ended is how the guard's command has ended; nil: with status 0. known: the guard has said so.
func ended(report io.Reader) (err error, known bool) {
	kind, value, err := readRecord(report)
	if err != nil || kind != guardEnded {
		return nil, false
	}
	status := syscall.WaitStatus(value)
	switch {
	case status.Exited() && status.ExitStatus() == 0:
		return nil, true
	case status.Exited():
		return fmt.Errorf("exit status %d", status.ExitStatus()), true
	case status.CoreDump():
		return fmt.Errorf("signal: %v (core dumped)", status.Signal()), true
	}
	return fmt.Errorf("signal: %v", status.Signal()), true
}

// ownGroup makes a command the leader of a process group, so that its children can be stopped with
// it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signalGroup signals p's group, or p alone if it has left the group.
func signalGroup(p *os.Process, sig syscall.Signal) {
	if syscall.Kill(-p.Pid, sig) != nil {
		p.Signal(sig)
	}
}
