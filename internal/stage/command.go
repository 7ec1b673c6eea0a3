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

// commandGrace is how long children of a command may keep its output open after it has exited.
// stopGrace is how long it may take to exit after SIGTERM: an interrupted conversion waits for that.
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
	in    *os.File // write end of the pipe to its standard input; nil: its input is empty
	out   *os.File // read end of the pipe from its standard output
	delay time.Duration
	grace time.Duration // remaining time that calls of Read may wait, in total, after the exit

	lifeline, report *os.File // pipes of its guard; nil: no guard

	exited     chan struct{} // closed after the exit, when err is set
	err        error         // nil for status 0
	sound      atomic.Bool   // Read has returned io.EOF
	inputEnded atomic.Bool

	once        sync.Once
	interrupted chan struct{} // closed by Interrupt
}

// StartProcess runs a command with a standard input that the caller writes. If guarded is set, a guard process kills it
// when this process is killed: see [Options].
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

// start runs the command, with a guard if guarded is set and this program can be one. stdin is its standard input,
// which start closes; nil: empty.
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

// wait waits for the command to exit, sets p.err, and limits a blocked Read to p.delay from then.
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

// Quiet makes Read return [os.ErrDeadlineExceeded] if it is still waiting after d; 0: no limit.
func (p *Process) Quiet(d time.Duration) {
	var until time.Time
	if d > 0 {
		until = time.Now().Add(d)
	}
	p.out.SetReadDeadline(until)
}

// Read reads the standard output of the command. It returns io.EOF when the output is closed and the exit status is 0.
// After closing its output a command may take 5 seconds to exit, or any time if CloseInput was called. After Interrupt Read
// returns [os.ErrDeadlineExceeded].
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
	case <-p.interrupted: // the command is still running
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

// Stop frees the resources of a command. If Read has not returned io.EOF, Stop sends SIGTERM, and SIGKILL if the output is
// still open a second later, and returns after the command has exited. No Write may be running.
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
