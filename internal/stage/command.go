package stage

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

// commandGrace is how long children of a command may hold its output after it has exited,
// stopGrace how long it may take to exit after SIGTERM: an interrupted conversion waits for that.
const (
	commandGrace = 5 * time.Second
	stopGrace    = time.Second
)

var errHeld = errors.New("it has ended, but something that it started still holds its output")

// A Process is a running command. Write and Read may be called at the same time, by one goroutine each.
// The caller must call Stop.
type Process struct {
	name  string
	cmd   *exec.Cmd
	in    *os.File // the end of the pipe that we write; nil: its input is empty
	out   *os.File // the end of the pipe that we read
	delay time.Duration
	grace time.Duration // what Read may still wait, in all, after the exit

	lifeline, report *os.File // of its guard; nil: it has none

	exited     chan struct{} // closed when err is set
	err        error         // of the exit; nil for status 0
	sound      atomic.Bool   // Read has returned io.EOF
	inputEnded atomic.Bool

	once        sync.Once
	interrupted chan struct{} // closed by Interrupt
}

// StartProcess runs a command with a standard input that the caller writes. With guarded it runs below a
// process that kills it when this process is killed: see [Options].
func StartProcess(c *input.Command, guarded bool) (*Process, error) {
	theirs, in, err := os.Pipe()
	if err != nil {
		return nil, place.IOError(c.Name, err)
	}
	p, err := start(c, commandGrace, guarded, theirs)
	if err != nil {
		in.Close()
		return nil, err
	}
	p.in = in
	return p, nil
}

// start runs the command; with guarded below a guard, if this program can be one. stdin is its input,
// which start closes; nil: it is empty.
func start(c *input.Command, delay time.Duration, guarded bool, stdin *os.File) (*Process, error) {
	defer closeAll(stdin)
	name, program := c.Name, ""
	if guarded {
		program = self()
	}
	if len(c.Args) == 0 {
		return nil, place.Refuse(name, input.ErrCommand, "", "it names no program")
	}
	out, in, err := os.Pipe()
	if err != nil {
		return nil, place.IOError(name, err)
	}
	cmd := &exec.Cmd{Path: c.Args[0], Args: c.Args, Stdout: in, Stderr: c.Stderr, WaitDelay: delay}
	if c.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	if stdin != nil {
		cmd.Stdin = stdin
	}
	p := &Process{name: name, cmd: cmd, out: out, delay: delay, grace: delay, exited: make(chan struct{}), interrupted: make(chan struct{})}
	p.inputEnded.Store(stdin == nil)
	if program != "" {
		if p.lifeline, p.report, err = belowGuard(cmd, program); err != nil {
			closeAll(out, in)
			return nil, place.IOError(name, err)
		}
	}
	ownGroup(cmd)
	err = cmd.Start()
	closeAll(in)
	closeAll(cmd.ExtraFiles...)
	if err == nil && program != "" {
		if err = started(p.report); err != nil {
			cmd.Wait()
		}
	}
	if err != nil {
		closeAll(out, p.lifeline, p.report)
		return nil, startError(name, c.Args[0], err)
	}
	go p.wait()
	return p, nil
}

func startError(name, path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	e := place.IOError(name, fmt.Errorf("run %s: %w", text.Name(path), err))
	if errors.Is(err, fs.ErrNotExist) {
		e.Hint = "check its path and, where it is a script, its first line"
	}
	return e
}

// wait waits for the command to exit. After that a blocked Read ends within the delay.
func (p *Process) wait() {
	err := p.cmd.Wait()
	if p.report != nil {
		if status, known := ended(p.report); known && (status != nil || err == nil) {
			err = status
		}
	}
	switch {
	case errors.Is(err, exec.ErrWaitDelay):
		p.err = p.held()
	case err != nil:
		p.err = place.Refuse(p.name, input.ErrCommand, "", "%w", err)
	}
	p.out.SetReadDeadline(time.Now().Add(p.delay))
	close(p.exited)
}

func (p *Process) held() error {
	return place.Refuse(p.name, input.ErrCommand, "it must wait for what it starts", "%w", errHeld)
}

// Write writes to the command's standard input.
func (p *Process) Write(b []byte) (int, error) { return p.in.Write(b) }

// CloseInput ends the command's standard input. No Write may be running.
func (p *Process) CloseInput() error {
	p.inputEnded.Store(true)
	return p.in.Close()
}

// Quiet makes a Read that waits longer than d from now on return [os.ErrDeadlineExceeded]; 0: none does.
func (p *Process) Quiet(d time.Duration) {
	var until time.Time
	if d > 0 {
		until = time.Now().Add(d)
	}
	p.out.SetReadDeadline(until)
}

// Read reads what the command answers. It returns io.EOF once that is complete: the output is closed and the exit status is
// 0. A command that closes its output may take 5 seconds to exit, or any time after CloseInput. After Interrupt Read returns
// [os.ErrDeadlineExceeded].
func (p *Process) Read(b []byte) (int, error) {
	select {
	case <-p.interrupted:
		return 0, os.ErrDeadlineExceeded
	case <-p.exited: // the pipe may still hold bytes
		start := time.Now()
		p.out.SetReadDeadline(start.Add(p.grace))
		defer func() { p.grace -= time.Since(start) }()
	default:
	}
	n, err := p.out.Read(b)
	switch {
	case n > 0 || err == nil:
		return n, nil
	case errors.Is(err, os.ErrDeadlineExceeded) && p.Exited():
		return 0, cmp.Or(p.err, p.held())
	case err != io.EOF:
		return 0, err
	}
	var late <-chan time.Time
	if !p.inputEnded.Load() {
		late = time.After(p.delay)
	}
	select {
	case <-p.exited:
	case <-p.interrupted: // it runs on without an output
		return 0, os.ErrDeadlineExceeded
	case <-late:
		return 0, place.Refuse(p.name, input.ErrCommand, "", "it has closed its output, and goes on without it")
	}
	if p.err != nil {
		return 0, p.err
	}
	p.sound.Store(true)
	return 0, io.EOF
}

// Exited reports whether the command has ended.
func (p *Process) Exited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// Interrupted reports whether Interrupt was called.
func (p *Process) Interrupted() bool {
	select {
	case <-p.interrupted:
		return true
	default:
		return false
	}
}

// Interrupt makes running and later calls of Write and Read return.
func (p *Process) Interrupt() {
	p.once.Do(func() {
		close(p.interrupted)
		p.in.SetWriteDeadline(time.Unix(1, 0))
		p.out.SetReadDeadline(time.Unix(1, 0))
	})
}

// Stop ends a command that was not read to its end: with SIGTERM, and with SIGKILL if its output is open a
// second later. It returns when the command has exited. No Write may be running.
func (p *Process) Stop() {
	closeAll(p.in)
	defer closeAll(p.out, p.lifeline, p.report)
	if p.sound.Load() {
		return
	}
	signalGroup(p.cmd.Process, syscall.SIGTERM)
	deadline := time.Now().Add(min(p.delay, stopGrace))
	var err error
	if p.out.SetReadDeadline(deadline) == nil {
		_, err = io.Copy(io.Discard, p.out)
	}
	select {
	case <-p.exited:
	case <-time.After(time.Until(deadline)):
		err = os.ErrDeadlineExceeded
	}
	if err != nil {
		signalGroup(p.cmd.Process, syscall.SIGKILL)
		<-p.exited
	}
}
