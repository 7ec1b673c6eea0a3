package stage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
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

// A process is a running command. Read returns io.EOF only if the output is complete: it is closed
// and the exit status is 0. stop must be called in the end, and may be called while Read blocks.
type process struct {
	name  string
	cmd   *exec.Cmd
	out   *os.File // the end of the pipe that we read
	delay time.Duration
	grace time.Duration // what Read may still wait, in all, after the exit

	lifeline, report *os.File // of its guard; nil: it has none

	exited chan struct{} // closed when err is set
	err    error         // of the exit; nil for status 0
	sound  atomic.Bool   // Read has returned io.EOF
}

// start runs the command; with guarded below a guard, if this program can be one. stdin is its input,
// which start closes; nil: it is empty.
func start(c *input.Command, delay time.Duration, guarded bool, stdin *os.File) (*process, error) {
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
	p := &process{name: name, cmd: cmd, out: out, delay: delay, grace: delay, exited: make(chan struct{})}
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
func (p *process) wait() {
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

func (p *process) held() error {
	return place.Refuse(p.name, input.ErrCommand, "it must wait for what it starts", "%w", errHeld)
}

func (p *process) Read(b []byte) (int, error) {
	select {
	case <-p.exited:
		if p.err != nil {
			return 0, p.err
		}
		start := time.Now()
		p.out.SetReadDeadline(start.Add(p.grace))
		defer func() { p.grace -= time.Since(start) }()
	default:
	}
	n, err := p.out.Read(b)
	if err != io.EOF && !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	<-p.exited // it may run on without an output
	switch {
	case p.err != nil:
		return 0, p.err
	case err != io.EOF:
		return 0, p.held()
	}
	p.sound.Store(true)
	return 0, io.EOF
}

// stop ends a command that was not read to its end: with SIGTERM, then with SIGKILL if the output
// is still open after the delay. It returns when the command has exited.
func (p *process) stop() {
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
