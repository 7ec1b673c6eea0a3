// Package stop ends a run when the process gets a signal, with time to finish the shards that are
// being written.
package stop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
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
type Stopper struct {
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
	late  func(Interrupted)                             // tells of a run that took longer; nil: nothing does
	tell  func(sig syscall.Signal, grace time.Duration) // nil: nobody wants to know

	told sync.WaitGroup // calls of tell, which may wait for whoever reads standard error
}

type stopperKey struct{}

// New returns a stopper that listens, and the context of what it stops. It must be
// closed. exit ends the process.
func New(exit func(status int)) (context.Context, *Stopper) {
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &Stopper{
		cancel: cancel, exit: exit, signals: make(chan os.Signal, 3),
		drain: make(chan struct{}), quit: make(chan struct{}), ended: make(chan struct{}), patience: stopPatience,
	}
	go s.listen()
	return context.WithValue(ctx, stopperKey{}, s), s
}

// Notify has the process's signals act.
func (s *Stopper) Notify() {
	for sig := range Signals {
		signal.Notify(s.signals, sig)
	}
}

// From returns the stopper of a context; one that nobody signals where it has none.
func From(ctx context.Context) *Stopper {
	if s, ok := ctx.Value(stopperKey{}).(*Stopper); ok {
		return s
	}
	return &Stopper{}
}

// Within says that shards are written from now on, which after a signal are worth finishing
// for so long. The channel is closed when no more may begin.
func (s *Stopper) Within(grace time.Duration) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grace = grace
	return s.drain
}

// OnSignal sets what is told of signals: which, and the grace that it begins, 0 where the run
// stops.
func (s *Stopper) OnSignal(tell func(sig syscall.Signal, grace time.Duration)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell = tell
}

// OnLate sets what is told of a run that does not end when it is stopped.
func (s *Stopper) OnLate(tell func(Interrupted)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = tell
}

// listen acts on signals until the stopper is closed.
func (s *Stopper) listen() {
	defer close(s.ended)
	var over, late <-chan time.Time
	var last syscall.Signal // that has stopped the run
	stopped := false
	stop := func(sig syscall.Signal) {
		stopped, last, late = true, sig, time.After(s.patience)
		s.cancel(Interrupted{Signal: sig})
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

func (s *Stopper) graceOf(sig syscall.Signal) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sig == syscall.SIGINT {
		return 0
	}
	return s.grace
}

// say tells without waiting: a run must end though nobody reads what it says.
func (s *Stopper) say(sig syscall.Signal, grace time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tell != nil {
		tell := s.tell
		s.told.Go(func() { tell(sig, grace) })
	}
}

// sayLate tells of a run that does not end, and waits a moment for that.
func (s *Stopper) sayLate(sig syscall.Signal) {
	s.mu.Lock()
	tell := s.late
	s.mu.Unlock()
	if tell == nil {
		return
	}
	told := make(chan struct{})
	go func() {
		tell(Interrupted{Signal: sig, late: true})
		close(told)
	}()
	select {
	case <-told:
	case <-time.After(s.patience / 10):
	}
}

// Close ends the listening: a signal ends the process at once from now on. What was told of
// signals is out when it returns.
func (s *Stopper) Close() {
	signal.Stop(s.signals)
	close(s.quit)
	<-s.ended
	s.told.Wait()
	s.cancel(nil)
}

// Status is the exit status of a process that the signal has ended.
func (i Interrupted) Status() int { return 128 + int(i.Signal) }

// Reason returns what the error of a run means: that it was stopped, and how far it was, or
// itself. It is called once the stopper is closed.
func (s *Stopper) Reason(ctx context.Context, err error) error {
	cause, ok := context.Cause(ctx).(Interrupted)
	if !ok && s.first != 0 && errors.Is(err, shard.ErrDrained) {
		cause, ok = Interrupted{Signal: s.first}, true
	}
	if !ok || err == nil {
		return err
	}
	if u, ok := errors.AsType[*shard.Unfinished](err); ok {
		cause.finished = fmt.Sprintf(" with %d of %s finished", u.Finished, terminal.Counted(int64(u.Shards), "shard"))
	}
	return cause
}

// Interrupted is the error of a run that a signal has ended.
type Interrupted struct {
	Signal   syscall.Signal
	finished string // how far a conversion was; "": nothing was being written
	late     bool   // it did not end, and was not waited for
}

func (i Interrupted) Error() string {
	if i.late {
		return fmt.Sprintf("%v: stopped without an end of what was under way; run the same command again", i.Signal)
	}
	if i.finished == "" {
		return fmt.Sprintf("%v: stopped; run the same command again", i.Signal)
	}
	return fmt.Sprintf("%v: stopped%s; the same command goes on from there", i.Signal, i.finished)
}
