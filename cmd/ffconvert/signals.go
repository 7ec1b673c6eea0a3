package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/ffconvert/ffconvert/shard"
)

// A stopper ends a run when the process is told to end. Where there is a grace, the first
// SIGTERM or SIGUSR1 lets the shards under way be finished, and begins no other; a second
// signal, the end of the grace, and any signal without one stop the run, which cleans up;
// the signal after that ends the process at once.
type stopper struct {
	cancel  context.CancelCauseFunc
	exit    func(status int)
	signals chan os.Signal
	drain   chan struct{}  // closed: no more shards may begin
	quit    chan struct{}  // closed by close
	ended   chan struct{}  // closed when listen returns
	first   syscall.Signal // that has closed drain

	mu    sync.Mutex // guards what follows
	grace time.Duration
	tell  func(sig syscall.Signal, grace time.Duration) // nil: nobody wants to know

	told sync.WaitGroup // calls of tell, which may wait for whoever reads standard error
}

type stopperKey struct{}

// newStopper returns a stopper that listens, and the context of what it stops. It must be
// closed. exit ends the process.
func newStopper(exit func(status int)) (context.Context, *stopper) {
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &stopper{
		cancel: cancel, exit: exit, signals: make(chan os.Signal, 3),
		drain: make(chan struct{}), quit: make(chan struct{}), ended: make(chan struct{}),
	}
	go s.listen()
	return context.WithValue(ctx, stopperKey{}, s), s
}

// notify has the process's signals act.
func (s *stopper) notify() {
	for sig := range stopSignals {
		signal.Notify(s.signals, sig)
	}
}

// stopperOf returns the stopper of a context; one that nobody signals where it has none.
func stopperOf(ctx context.Context) *stopper {
	if s, ok := ctx.Value(stopperKey{}).(*stopper); ok {
		return s
	}
	return &stopper{}
}

// within says that shards are written from now on, which after a signal are worth finishing
// for so long. The channel is closed when no more may begin.
func (s *stopper) within(grace time.Duration) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grace = grace
	return s.drain
}

// telling sets what is told of signals: which, and the grace that it begins, 0 where the run
// stops.
func (s *stopper) telling(tell func(sig syscall.Signal, grace time.Duration)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell = tell
}

// listen acts on signals until the stopper is closed.
func (s *stopper) listen() {
	defer close(s.ended)
	var over <-chan time.Time
	stopped := false
	for {
		select {
		case got := <-s.signals:
			sig := got.(syscall.Signal)
			if stopped {
				s.exit(128 + int(sig))
				return
			}
			if grace := s.graceOf(sig); grace > 0 && s.first == 0 {
				s.first, over = sig, time.After(grace)
				close(s.drain)
				s.say(sig, grace)
				continue
			}
			stopped = true
			s.cancel(interrupted{signal: sig})
			s.say(sig, 0)
		case <-over:
			if !stopped {
				stopped = true
				s.cancel(interrupted{signal: s.first})
			}
		case <-s.quit:
			return
		}
	}
}

func (s *stopper) graceOf(sig syscall.Signal) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sig == syscall.SIGINT {
		return 0
	}
	return s.grace
}

// say tells without waiting: a run must end though nobody reads what it says.
func (s *stopper) say(sig syscall.Signal, grace time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tell != nil {
		tell := s.tell
		s.told.Go(func() { tell(sig, grace) })
	}
}

// close ends the listening: a signal ends the process at once from now on. What was told of
// signals is out when it returns.
func (s *stopper) close() {
	signal.Stop(s.signals)
	close(s.quit)
	<-s.ended
	s.told.Wait()
	s.cancel(nil)
}

// reason returns what the error of a run means: that it was stopped, and how far it was, or
// itself. It is called once the stopper is closed.
func (s *stopper) reason(ctx context.Context, err error) error {
	cause, ok := context.Cause(ctx).(interrupted)
	if !ok && s.first != 0 && errors.Is(err, shard.ErrDrained) {
		cause, ok = interrupted{signal: s.first}, true
	}
	if !ok || err == nil {
		return err
	}
	if u, ok := errors.AsType[*shard.Unfinished](err); ok {
		cause.finished = fmt.Sprintf(" with %d of %s finished", u.Finished, counted(int64(u.Shards), "shard"))
	}
	return cause
}

// graceValue is a flag of a time, 0 or more.
type graceValue time.Duration

func (v *graceValue) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return errors.New("want a time of 0 or more with a unit, as 90s or 15m")
	}
	*v = graceValue(d)
	return nil
}

func (v *graceValue) Type() string { return "duration" }

func (v *graceValue) String() string {
	if *v == 0 {
		return "0"
	}
	return time.Duration(*v).String()
}
