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

// stopPatience leaves a run the time to remove its temporary files and to say how far it was. A
// file whose server does not answer can hold it up for ever.
const stopPatience = 1500 * time.Millisecond

// A stopper ends a run when the process is told to end. Where there is a grace, the first
// SIGTERM or SIGUSR1 lets the shards under way be finished, and begins no other; a second
// signal, the end of the grace, and any signal without one stop the run, which cleans up;
// the signal after that ends the process at once, and so does a clean-up of more than
// stopPatience.
type stopper struct {
	cancel  context.CancelCauseFunc
	exit    func(status int)
	signals chan os.Signal
	drain   chan struct{}  // closed: no more shards may begin
	quit    chan struct{}  // closed by close
	ended   chan struct{}  // closed when listen returns
	first   syscall.Signal // that has closed drain

	patience time.Duration // how long a run that is stopped may take to end

	mu    sync.Mutex // guards what follows
	grace time.Duration
	late  func(interrupted)                             // tells of a run that took longer; nil: nothing does
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
		drain: make(chan struct{}), quit: make(chan struct{}), ended: make(chan struct{}), patience: stopPatience,
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

// tellingLate sets what is told of a run that does not end when it is stopped.
func (s *stopper) tellingLate(tell func(interrupted)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = tell
}

// listen acts on signals until the stopper is closed.
func (s *stopper) listen() {
	defer close(s.ended)
	var over, late <-chan time.Time
	var last syscall.Signal // that has stopped the run
	stopped := false
	stop := func(sig syscall.Signal) {
		stopped, last, late = true, sig, time.After(s.patience)
		s.cancel(interrupted{signal: sig})
	}
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
			stop(sig)
			s.say(sig, 0)
		case <-over:
			if !stopped {
				stop(s.first)
			}
		case <-late:
			s.sayLate(last)
			s.exit(128 + int(last))
			return
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

// sayLate tells of a run that does not end, and waits a moment for that.
func (s *stopper) sayLate(sig syscall.Signal) {
	s.mu.Lock()
	tell := s.late
	s.mu.Unlock()
	if tell == nil {
		return
	}
	told := make(chan struct{})
	go func() {
		tell(interrupted{signal: sig, late: true})
		close(told)
	}()
	select {
	case <-told:
	case <-time.After(s.patience / 10):
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
