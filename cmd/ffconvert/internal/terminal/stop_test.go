package terminal

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/dataset/write"
)

// Whoever does not read what a run says of signals cannot keep it from ending.
func TestStopperDoesNotWait(t *testing.T) {
	t.Parallel()
	exited := make(chan int, 1)
	ctx, s := newStopper(func(status int) { exited <- status }, time.Minute)
	hold := make(chan struct{})
	s.report = func(syscall.Signal, time.Duration) { <-hold }
	drain := Drain(ctx, time.Hour)
	for _, step := range []struct{ done <-chan struct{} }{{drain}, {ctx.Done()}} {
		select {
		case <-step.done:
			t.Error("it was done before the signal")
		default:
		}
		s.signals <- syscall.SIGTERM
		<-step.done
	}
	s.signals <- syscall.SIGINT
	if status := <-exited; status != 130 {
		t.Errorf("exit with %d", status)
	}
	close(hold)
	s.End(ctx, nil)
}

// statusOf is the status of a process that ends with err.
func statusOf(err error) int {
	if stopped, ok := errors.AsType[Interrupted](err); ok {
		return stopped.Status()
	}
	return 1
}

func TestStopperReason(t *testing.T) {
	t.Parallel()
	drained := &write.Unfinished{Finished: 3, Shards: 9, Err: write.ErrDrained}
	damage := errors.New("no space")
	for _, row := range []struct {
		name    string
		grace   time.Duration
		signals []syscall.Signal
		err     error // of the run
		want    string
		status  int
	}{
		{"no signal", 0, nil, damage, "no space", 1},
		{"no signal, no error", 0, nil, nil, "", 0},
		{"finished all the same", 0, []syscall.Signal{syscall.SIGTERM}, nil, "", 0},
		{"drained", time.Hour, []syscall.Signal{syscall.SIGTERM}, drained, "terminated: stopped with 3 of 9 shards finished; the same command goes on from there", 143},
		{"drained, and finished", time.Hour, []syscall.Signal{syscall.SIGTERM}, nil, "", 0},
		{"an error while it was drained", time.Hour, []syscall.Signal{syscall.SIGTERM}, &write.Unfinished{Finished: 3, Shards: 9, Err: damage}, "no space", 1},
		{"stopped", 0, []syscall.Signal{syscall.SIGINT}, context.Canceled, "interrupt: stopped; run the same command again", 130},
		{"drained, then stopped", time.Hour, []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}, drained, "interrupt: stopped with 3 of 9 shards finished; the same command goes on from there", 130},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			ctx, s := newStopper(func(int) { t.Error("it exits") }, time.Minute)
			drain := Drain(ctx, row.grace)
			for _, sig := range row.signals {
				s.signals <- sig
			}
			switch {
			case row.grace > 0:
				<-drain
				if len(row.signals) < 2 {
					break
				}
				fallthrough
			case len(row.signals) > 0:
				<-ctx.Done()
			}
			err := s.End(ctx, row.err)
			if err == nil {
				if row.want != "" {
					t.Errorf("no error, want %s", row.want)
				}
				return
			}
			if err.Error() != row.want || statusOf(err) != row.status {
				t.Errorf("error %v with status %d, want %s with %d", err, statusOf(err), row.want, row.status)
			}
		})
	}
}

// A run that does not end when it is stopped is not waited for.
func TestStopperLate(t *testing.T) {
	t.Parallel()
	for _, grace := range []time.Duration{0, 50 * time.Millisecond} {
		exited, told := make(chan int, 1), make(chan Interrupted, 1)
		ctx, s := newStopper(func(status int) { exited <- status }, 100*time.Millisecond)
		Drain(ctx, grace)
		s.reportLate = func(err Interrupted) { told <- err }
		began := time.Now()
		s.signals <- syscall.SIGTERM
		<-ctx.Done()
		if status := <-exited; status != 143 || time.Since(began) < s.patience+grace {
			t.Errorf("exit with %d after %v", status, time.Since(began))
		}
		if err := <-told; !strings.HasPrefix(err.Error(), "terminated: stopped without") || statusOf(err) != 143 {
			t.Errorf("told %v", err)
		}
		s.End(ctx, nil)
	}
}

// What is told to nobody does not keep the process either.
func TestStopperLateUntold(t *testing.T) {
	t.Parallel()
	exited, hold := make(chan int, 1), make(chan struct{})
	ctx, s := newStopper(func(status int) { exited <- status }, 50*time.Millisecond)
	s.reportLate = func(Interrupted) { <-hold }
	s.signals <- syscall.SIGINT
	if status := <-exited; status != 130 {
		t.Errorf("exit with %d", status)
	}
	close(hold)
	s.End(ctx, nil)
}
