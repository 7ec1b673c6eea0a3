package main

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/tar"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

// heldMain is the program with a format of its own: tars of which each part, once it is
// begun to be read, waits for leave.
func heldMain() {
	f := sourceFormat{Format: format.Format{Name: "held", Options: heldOptions}, source: "TAR...", short: "tars that wait", example: "  held"}
	os.Exit(run(os.Args[1:], time.Minute, newConvertCommand(f, nil)))
}

func heldOptions(set *option.Set) format.Opener {
	pass, deaf := "read", false
	set.Add("pass", "the pass that waits: index or read", option.Text(&pass))
	set.Add("deaf", "go on waiting when told to stop", option.Bool(&deaf))
	return format.Opener{Open: func(_ context.Context, req format.OpenRequest) (converters.Source, error) {
		return heldSource{tar.Open(req.Parts, tar.Options{}), pass, deaf}, nil
	}}
}

// A heldSource makes a file at-N when part N is begun in the pass that waits, and goes on when
// there is a file go-N.
type heldSource struct {
	converters.Source
	pass string
	deaf bool
}

func (s heldSource) Index(ctx context.Context, p int) iter.Seq2[*converters.Span, error] {
	return func(yield func(*converters.Span, error) bool) {
		if err := s.wait(ctx, "index", p); err != nil {
			yield(nil, err)
			return
		}
		s.Source.Index(ctx, p)(yield)
	}
}

func (s heldSource) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		if err := s.wait(ctx, "read", run.Part); err != nil {
			yield(nil, err)
			return
		}
		s.Source.Read(ctx, run)(yield)
	}
}

func (s heldSource) wait(ctx context.Context, pass string, part int) error {
	if pass != s.pass {
		return nil
	}
	if err := os.WriteFile(fmt.Sprint("at-", part), nil, 0o644); err != nil {
		return err
	}
	for ctx.Err() == nil || s.deaf {
		if _, err := os.Stat(fmt.Sprint("go-", part)); err == nil {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return ctx.Err()
}

// A heldRun is a run of that program in a directory that has the tars 0.tar to 2.tar, which
// become three shards.
type heldRun struct {
	t   *testing.T
	dir string
	cmd *exec.Cmd

	mu    sync.Mutex
	lines []string // of standard error
	ended chan struct{}
}

func startHeld(t *testing.T, args ...string) *heldRun {
	t.Helper()
	files := make(map[string]string)
	for i := range 3 {
		files[fmt.Sprint(i, ".tar")] = tarOf(t, fmt.Sprint(i, "a.x"), fmt.Sprint(i, "b.x"), fmt.Sprint(i, "c.x"))
	}
	h := &heldRun{t: t, dir: need.Files(t, files)}
	h.start(args...)
	return h
}

func (h *heldRun) start(args ...string) {
	h.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	h.cmd = exec.Command(exe)
	h.cmd.Args = append(append([]string{"ffheld", "held", "-j1", "--shards", "3"}, args...), "0.tar", "1.tar", "2.tar", "out")
	h.cmd.Dir = h.dir
	stderr, err := h.cmd.StderrPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	ended := make(chan struct{})
	h.lines, h.ended = nil, ended
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			h.mu.Lock()
			h.lines = append(h.lines, lines.Text())
			h.mu.Unlock()
		}
		h.cmd.Wait()
	}()
	h.t.Cleanup(func() { h.cmd.Process.Kill(); <-ended })
}

// until waits until what it asks for is so.
func (h *heldRun) until(what string, is func() bool) {
	h.t.Helper()
	for began := time.Now(); !is(); time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			h.t.Fatalf("there is no %s:\n%s", what, h.said())
		}
	}
}

// at waits until a part is being read, go lets it be read on.
func (h *heldRun) at(part int) {
	h.t.Helper()
	h.until(fmt.Sprint("reading of part ", part), func() bool { return h.has(fmt.Sprint("at-", part)) })
}

func (h *heldRun) let(parts ...int) {
	h.t.Helper()
	for _, part := range parts {
		if err := os.WriteFile(filepath.Join(h.dir, fmt.Sprint("go-", part)), nil, 0o644); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *heldRun) has(name string) bool {
	_, err := os.Stat(filepath.Join(h.dir, name))
	return err == nil
}

// said is its standard error so far.
func (h *heldRun) said() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(append(h.lines, ""), "\n")
}

// signal sends a signal, and waits until it has acted: until the run has told of it.
func (h *heldRun) signal(sig os.Signal, told string) {
	h.t.Helper()
	if err := h.cmd.Process.Signal(sig); err != nil {
		h.t.Fatal(err)
	}
	h.until(fmt.Sprintf("line with %q", told), func() bool { return strings.Contains(h.said(), told) })
}

// status waits for the end of the run.
func (h *heldRun) status() int {
	h.t.Helper()
	select {
	case <-h.ended:
	case <-time.After(time.Minute):
		h.t.Fatalf("it does not end:\n%s", h.said())
	}
	return h.cmd.ProcessState.ExitCode()
}
