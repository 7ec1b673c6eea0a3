package main

import (
	"errors"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/dataset"
)

// quietly runs a command of the program in this process.
func quietly(args ...string) error {
	root := newRootCommand()
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	root.SetArgs(append(args, "--progress", "none"))
	return root.Execute()
}

// planned plans the tar of 12 samples in a process of its own: a process that another test starts may
// hold a lock of this one until it has its program.
func planned(t *testing.T, flags ...string) (out string) {
	t.Helper()
	source, err := filepath.Abs(filepath.Join("..", "..", "testdata", "shards-000.tar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if r := ffconvert(t, dir, append(append([]string{"plan", "tar"}, flags...), source, "out")...); r.status != 0 {
		t.Fatal(r)
	}
	return filepath.Join(dir, "out")
}

// A task that comes while finish holds the directory is not refused: a scheduler would take
// it for one that can never succeed.
func TestRunWaitsForFinish(t *testing.T) {
	t.Parallel()
	need.Time(t, "processes that wait")
	out := planned(t)
	held, err := dataset.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan result, 1)
	go func() { ran <- ffconvert(t, "", "run", out) }()
	select {
	case r := <-ran:
		t.Fatalf("while another process held the directory: %v", r)
	case <-time.After(500 * time.Millisecond):
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	for _, r := range []result{<-ran, ffconvert(t, "", "finish", out)} {
		if r.status != 0 {
			t.Error(r)
		}
	}
}

// A finish that waits leaves the directory to the tasks until there is something to finish.
func TestFinishWaitsWithoutTheLock(t *testing.T) {
	t.Parallel()
	need.Time(t, "processes that wait")
	out := planned(t)
	finished := make(chan error, 1)
	go func() { finished <- quietly("finish", "--wait", "1m", out) }()
	for began := time.Now(); time.Since(began) < 500*time.Millisecond; {
		task, err := dataset.OpenTask(out)
		if err == nil {
			err = task.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := quietly("run", out); err != nil {
		t.Error(err)
	}
	if err := <-finished; err != nil {
		t.Error(err)
	}
	if err := quietly("finish", "--wait", "1ms", t.TempDir()); !errors.Is(err, convert.ErrUnplanned) || exitCode(err) != exitUnfinished {
		t.Errorf("a directory without a plan: %v", err)
	}
}

// A finish that comes while tasks are at work came too early, and says so by its status.
func TestFinishBesideTasks(t *testing.T) {
	t.Parallel()
	dir := planned(t, "--shards", "2")
	task, err := dataset.OpenTask(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = runFinish(t.Context(), finishOptions{}, dir)
	if !errors.Is(err, dataset.ErrLocked) || !errors.Is(err, dataset.ErrMissing) || exitCode(err) != exitUnfinished {
		t.Errorf("status %d: %v", exitCode(err), err)
	}
	if err := task.Close(); err != nil {
		t.Error(err)
	}
	if err := runFinish(t.Context(), finishOptions{}, dir); exitCode(err) != exitUnfinished || errors.Is(err, dataset.ErrLocked) {
		t.Errorf("without tasks: status %d: %v", exitCode(err), err)
	}
}
