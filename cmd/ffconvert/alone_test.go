package main

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/shard"
)

// plannedOutput returns a directory with a plan of one tar, of which nothing is written.
func plannedOutput(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	root := newRootCommand()
	root.SetArgs([]string{"plan", "tar", "--progress", "none", "--shards", "2", filepath.Join("..", "..", "testdata", "shards-000.tar"), dir})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A task that begins while another process has the directory alone waits for that.
func TestTaskWaitsForTheLock(t *testing.T) {
	t.Parallel()
	dir := plannedOutput(t)
	alone, err := shard.OpenOutput(dir)
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := openShared(stopped, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped while it waits: %v", err)
	}
	closed := make(chan error, 1)
	time.AfterFunc(300*time.Millisecond, func() { closed <- alone.Close() })
	task, err := openShared(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(<-closed, task.Close()); err != nil {
		t.Error(err)
	}
}

// A finish that waits for shards leaves the lock to their tasks.
func TestFinishWaitsWithoutTheLock(t *testing.T) {
	t.Parallel()
	dir := plannedOutput(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- runFinish(ctx, finishOptions{wait: time.Hour, progress: progressValue()}, dir) }()
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
		task, err := shard.OpenShared(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := task.Close(); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("finish: %v", err)
	}
}

// A finish that comes while tasks are at work came too early, and says so by its status.
func TestFinishBesideTasks(t *testing.T) {
	t.Parallel()
	dir := plannedOutput(t)
	task, err := shard.OpenShared(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = runFinish(t.Context(), finishOptions{progress: progressValue()}, dir)
	if !errors.Is(err, shard.ErrLocked) || !errors.Is(err, shard.ErrMissing) || exitCode(err) != exitUnfinished {
		t.Errorf("status %d: %v", exitCode(err), err)
	}
	if err := task.Close(); err != nil {
		t.Error(err)
	}
	if err := runFinish(t.Context(), finishOptions{progress: progressValue()}, dir); exitCode(err) != exitUnfinished || errors.Is(err, shard.ErrLocked) {
		t.Errorf("without tasks: status %d: %v", exitCode(err), err)
	}
}
