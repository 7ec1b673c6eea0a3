package input

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

	"github.com/ffconvert/ffconvert/internal/text"
)

// A Command is a program whose standard output is an input. It is run without a shell,
// in this process's directory and environment; its standard input is empty, and since it
// has a process group of its own, it cannot ask questions at the terminal.
type Command struct {
	Name string   // what manifests, errors and progress call it
	Args []string // Args[0] is the program's path, which is not looked for in PATH
	// Stderr receives what the command writes to standard error; commands that run at
	// once share it. A Write to other than an [*os.File] must return soon. nil: [os.Stderr].
	Stderr io.Writer
	// Sniff says that its output may be compressed, as its content tells. Else it is taken as
	// it is.
	Sniff bool
}

// FromCommand returns the input that c will write when [Open] runs it.
func FromCommand(c Command) Name {
	return Name{Name: c.Name, Size: -1, Command: &c}
}

// commandGrace is how long what a command leaves behind may hold its output once it has
// ended; stopGrace how long it may take to end once it has been told to: whoever
// interrupts a conversion waits for that.
const (
	commandGrace = 5 * time.Second
	stopGrace    = time.Second
)

var errHeld = errors.New("it has ended, but something that it started still holds its output")

// A process is a running command. Its Read returns io.EOF only when nothing can be
// missing: the output is closed, and the exit status is 0. Stop must be called in the
// end, and may be while a Read is blocked.
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

// start runs the command, below a guard where guard is its program; errors call it name.
func (c *Command) start(name string, delay time.Duration, guard string) (*process, error) {
	if len(c.Args) == 0 {
		return nil, refuse(name, ErrCommand, "", "it names no program")
	}
	out, in, err := os.Pipe()
	if err != nil {
		return nil, ioError(name, err)
	}
	cmd := &exec.Cmd{Path: c.Args[0], Args: c.Args, Stdout: in, Stderr: c.Stderr, WaitDelay: delay}
	if c.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	p := &process{name: name, cmd: cmd, out: out, delay: delay, grace: delay, exited: make(chan struct{})}
	if guard != "" {
		if p.lifeline, p.report, err = guarded(cmd, guard); err != nil {
			closeAll(out, in)
			return nil, ioError(name, err)
		}
	}
	ownGroup(cmd)
	err = cmd.Start()
	closeAll(in)
	closeAll(cmd.ExtraFiles...)
	if err == nil && guard != "" {
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
	e := ioError(name, fmt.Errorf("run %s: %w", text.Name(path), err))
	if errors.Is(err, fs.ErrNotExist) {
		e.Hint = "check its path and, where it is a script, its first line"
	}
	return e
}

// wait learns how the command ended, and lets a Read that is blocked then wait no longer
// than the delay.
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
		p.err = refuse(p.name, ErrCommand, "", "%w", err)
	}
	p.out.SetReadDeadline(time.Now().Add(p.delay))
	close(p.exited)
}

func (p *process) held() error {
	return refuse(p.name, ErrCommand, "it must wait for what it starts", "%w", errHeld)
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

// stop ends a command that was not read to its end, politely first, and by force where
// it, or what it started, has not let go of the output after the delay. It returns when
// the command is no more.
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
