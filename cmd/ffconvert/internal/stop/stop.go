// package stop ends a run when the process gets a signal, with time to finish the shards that are
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

// Patience is the time that a stopped run has to remove its temporary files and print how far it
// was. Without it, a file on a server that does not answer could block the process forever.
const Patience = 1500 * time.Millisecond

// A stopper ends a run when the process gets a signal. With a grace period, the first SIGTERM or
// SIGUSR1 drains the run: shards under way are finished, no other is begun. A second signal, the end
// of the grace period, or any signal without one stops the run, which cleans up. The next signal, or a
// clean-up that takes longer than the patience, ends the process at once.
type stopper struct {
	cancel  context.CancelCauseFunc
	exit    func(status int)
	signals chan os.Signal
	drain   chan struct{}  // closed when no further shard may begin
	quit    chan struct{}  // closed by Close
	ended   chan struct{}  // closed when listen returns
	first   syscall.Signal // the signal that closed drain

	patience time.Duration // time that a stopped run has to end

	mu    sync.Mutex // guards what follows
	grace time.Duration
	late  func(Interrupted)                             // see OnLate; may be nil
	tell  func(sig syscall.Signal, grace time.Duration) // see OnSignal; may be nil

	told sync.WaitGroup // calls of tell, which block while standard error is a full pipe
}

type stopperKey struct{}

// New returns a Stopper, and the context of the run that it stops. The caller must close it. exit
// ends the process; patience is usually [Patience].
func New(exit func(status int), patience time.Duration) (context.Context, *stopper) {
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &stopper{
		cancel: cancel, exit: exit, signals: make(chan os.Signal, 3),
		drain: make(chan struct{}), quit: make(chan struct{}), ended: make(chan struct{}), patience: patience,
	}
	go s.listen()
	return context.WithValue(ctx, stopperKey{}, s), s
}

// Notify begins to catch the signals of the process.
func (s *stopper) Notify() {
	for sig := range Signals {
		signal.Notify(s.signals, sig)
	}
}

// From returns the Stopper of a context, or one that never gets a signal.
func From(ctx context.Context) *stopper {
	if s, ok := ctx.Value(stopperKey{}).(*stopper); ok {
		return s
	}
	return &stopper{}
}

// Within sets the grace period when the writing of shards begins. The channel is closed at the first
// signal: no further shard may begin.
func (s *stopper) Within(grace time.Duration) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grace = grace
	return s.drain
}

// OnSignal sets a function that is called for each signal, with the grace period that begins, or 0 if
// the run stops.
func (s *stopper) OnSignal(tell func(sig syscall.Signal, grace time.Duration)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell = tell
}

// OnLate sets a function that is called if a stopped run does not end in time.
func (s *stopper) OnLate(tell func(Interrupted)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = tell
}

// listen handles signals until Close.
func (s *stopper) listen() {
	defer close(s.ended)
	var over, late <-chan time.Time
	var last syscall.Signal // the signal that stopped the run
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

func (s *stopper) graceOf(sig syscall.Signal) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sig == syscall.SIGINT {
		return 0
	}
	return s.grace
}

// say calls tell in a goroutine, because the run must end even if standard error is a full pipe.
func (s *stopper) say(sig syscall.Signal, grace time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tell != nil {
		tell := s.tell
		s.told.Go(func() { tell(sig, grace) })
	}
}

// sayLate calls late, and waits for it at most a tenth of the patience.
func (s *stopper) sayLate(sig syscall.Signal) {
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

// Close gives the signals back their default action and waits for the calls of OnSignal's function.
func (s *stopper) Close() {
	signal.Stop(s.signals)
	close(s.quit)
	<-s.ended
	s.told.Wait()
	s.cancel(nil)
}

// Status is the exit status of a process that was ended by the signal.
func (i Interrupted) Status() int { return 128 + int(i.Signal) }

// Reason returns the [Interrupted] that caused the error of a run, with how many shards were finished,
// or err itself. It must be called after Close.
func (s *stopper) Reason(ctx context.Context, err error) error {
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

// Interrupted is the error of a run that was ended by a signal.
type Interrupted struct {
	Signal   syscall.Signal
	finished string // " with 3 of 9 shards finished"; "" if no shards were being written
	late     bool   // the run did not end in time
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
