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

// Guard must be the first call of the main function of a program that sets [Options].Guarded. In a guard process it
// runs the guard and exits; in any other process it returns at once.
func Guard() {
	if os.Args[0] == guardName && len(os.Args) > 1 && syscall.Getpgrp() == os.Getpid() {
		guard(os.Args[1:])
		os.Exit(0)
	}
}

// guard runs a command, reports its state, and returns when it has ended.
func guard(args []string) {
	runtime.LockOSThread() // the kernel kills the command when the thread that started it ends: see dieWithParent
	// The guard survives signals to its group. It catches them, since the command would inherit ignored signals.
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
		writeRecord(report, guardFailed, uint32(errno))
		return
	}
	writeRecord(report, guardStarted, 0)
	os.Stdin.Close()  // so that a write fails when the command closes its input
	os.Stdout.Close() // so that the output ends when the command closes it
	os.Stderr.Close()
	cmd.Wait() // the status says all
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok {
		writeRecord(report, guardEnded, uint32(status))
	}
}

// self returns the path of this program; "": it is unknown, and commands run without a guard.
func self() string {
	const running = "/proc/self/exe" // works even if the file was replaced
	if _, err := os.Stat(running); err == nil {
		return running
	}
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}

// ended waits for the guard's last record and returns the error of the command, nil for status 0. known is false if the
// guard has ended without that record.
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

// ownGroup makes a command the leader of a new process group, so that signalGroup reaches its children.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signalGroup signals the group of p, or p alone if there is no such group.
func signalGroup(p *os.Process, sig syscall.Signal) {
	if syscall.Kill(-p.Pid, sig) != nil {
		p.Signal(sig)
	}
}
