package stage

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
)

// A Coprocess is a running command with a standard input that the caller writes. Write and Read may be called at the same
// time, by one goroutine each. The caller must call Stop.
type Coprocess struct {
	p  *process
	in *os.File

	inputEnded atomic.Bool // by CloseInput

	once        sync.Once
	interrupted chan struct{} // closed by Interrupt
}

// StartCoprocess runs a command. With guarded it runs below a process that kills it when this process is killed: see
// [Options].
func StartCoprocess(c *input.Command, guarded bool) (*Coprocess, error) {
	theirs, in, err := os.Pipe()
	if err != nil {
		return nil, place.IOError(c.Name, err)
	}
	p, err := start(c, commandGrace, guarded, theirs)
	if err != nil {
		in.Close()
		return nil, err
	}
	return &Coprocess{p: p, in: in, interrupted: make(chan struct{})}, nil
}

// Write writes to the command's standard input.
func (c *Coprocess) Write(b []byte) (int, error) { return c.in.Write(b) }

// CloseInput ends the command's standard input. No Write may be running.
func (c *Coprocess) CloseInput() error {
	c.inputEnded.Store(true)
	return c.in.Close()
}

// Quiet makes a Read that waits longer than d from now on return [os.ErrDeadlineExceeded]; 0: none does.
func (c *Coprocess) Quiet(d time.Duration) {
	var until time.Time
	if d > 0 {
		until = time.Now().Add(d)
	}
	c.p.out.SetReadDeadline(until)
}

// Read reads what the command answers. It returns io.EOF once that is complete: the output is closed and the exit status is
// 0. A command that closes its output may take 5 seconds to exit, or any time after CloseInput. After Interrupt Read returns
// [os.ErrDeadlineExceeded].
func (c *Coprocess) Read(b []byte) (int, error) {
	select {
	case <-c.interrupted:
		return 0, os.ErrDeadlineExceeded
	case <-c.p.exited: // the pipe may still hold bytes
		c.Quiet(c.p.delay)
	default:
	}
	n, err := c.p.out.Read(b)
	switch {
	case n > 0 || err == nil:
		return n, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		if !c.Exited() {
			return 0, err
		}
		if c.p.err != nil {
			return 0, c.p.err
		}
		return 0, c.p.held()
	case err != io.EOF:
		return 0, err
	}
	var late <-chan time.Time
	if !c.inputEnded.Load() {
		late = time.After(c.p.delay)
	}
	select {
	case <-c.p.exited:
	case <-c.interrupted: // it runs on without an output
		return 0, os.ErrDeadlineExceeded
	case <-late:
		return 0, place.Refuse(c.p.name, input.ErrCommand, "", "it has closed its output, and goes on without it")
	}
	if c.p.err != nil {
		return 0, c.p.err
	}
	c.p.sound.Store(true)
	return 0, io.EOF
}

// Exited reports whether the command has ended.
func (c *Coprocess) Exited() bool {
	select {
	case <-c.p.exited:
		return true
	default:
		return false
	}
}

// Interrupted reports whether Interrupt was called.
func (c *Coprocess) Interrupted() bool {
	select {
	case <-c.interrupted:
		return true
	default:
		return false
	}
}

// Interrupt makes running and later calls of Write and Read return.
func (c *Coprocess) Interrupt() {
	c.once.Do(func() {
		close(c.interrupted)
		c.in.SetWriteDeadline(time.Unix(1, 0))
		c.p.out.SetReadDeadline(time.Unix(1, 0))
	})
}

// Stop ends a command that has not ended by itself, with SIGTERM, and a second later with SIGKILL. No Write and no Read may be
// running.
func (c *Coprocess) Stop() {
	c.in.Close()
	c.p.stop()
}
