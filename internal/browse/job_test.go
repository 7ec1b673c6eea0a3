package browse

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A job of a name is begun once, repeated where that is asked for, and stopped with the server.
func TestJobs(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := &jobs{ctx: ctx}
	runs, hold := 0, make(chan error)
	work := func(ctx context.Context, j *job) (any, error) {
		runs++
		select {
		case err := <-hold:
			return runs, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	begin := func(again bool) *job { return s.start(&job{Name: "a"}, again, work) }
	end := func(j *job, err error) {
		t.Helper()
		hold <- err
		if !j.await(10 * time.Second) {
			t.Fatal("the job does not end")
		}
	}
	first := begin(false)
	if begin(true) != first || s.get("a") != first || s.get("b") != nil || first.Over() {
		t.Error("a job that is under way was begun again")
	}
	end(first, errors.New("no device"))
	if begin(false) != first || first.Failed() != "no device" {
		t.Errorf("a job that failed: %q, or it was repeated", first.Failed())
	}
	second := begin(true)
	end(second, nil)
	if begin(false) != second || second.result != 2 {
		t.Error("a job that has ended well was repeated")
	}
	third := begin(true)
	third.stop()
	if !third.await(10*time.Second) || third.Failed() != "It was stopped." {
		t.Error("a job does not stop")
	}
	if begin(false) != third {
		t.Error("a job that was stopped was repeated")
	}
	wild := s.start(&job{Name: "b"}, false, func(context.Context, *job) (any, error) { panic("lost") })
	if !wild.await(10*time.Second) || wild.Failed() != "internal error: lost" {
		t.Errorf("a job that panics: %q", wild.Failed())
	}
	fourth := begin(true)
	cancel()
	s.wait()
	if fourth.Failed() != "It was stopped." || runs != 4 {
		t.Errorf("%d jobs were begun; the last: %s", runs, fourth.Failed())
	}
	if late := begin(true); late.Failed() != "It was stopped." {
		t.Error("a job was begun after the server ended")
	}
}
