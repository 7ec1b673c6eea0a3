package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/ffconvert/ffconvert/dataset/write"
)

// Patience is the time that a stopped run has to remove its temporary files and print how many shards it
// finished. Without it, a file on a server that does not answer could block the process forever.
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
	quit    chan struct{}  // closed by close
	ended   chan struct{}  // closed when listen returns
	first   syscall.Signal // the signal that closed drain

	patience time.Duration // time that a stopped run has to end

	mu         sync.Mutex // guards the fields below
	grace      time.Duration
	reportLate func(Interrupted)                             // prints the error of a run that did not end in time; may be nil
	report     func(sig syscall.Signal, grace time.Duration) // prints a signal, and the grace period or 0; may be nil

	reports sync.WaitGroup // calls of report, which block while standard error is a full pipe
}

type stopperKey struct{}

// NewStopper begins to catch the signals of the process. The run has the returned context. The caller must call End.
// exit ends the process; patience is usually [Patience].
func NewStopper(exit func(status int), patience time.Duration) (context.Context, *stopper) {
	ctx, s := newStopper(exit, patience)
	for sig := range signals {
		signal.Notify(s.signals, sig)
	}
	return ctx, s
}

func newStopper(exit func(status int), patience time.Duration) (context.Context, *stopper) {
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &stopper{
		cancel: cancel, exit: exit, signals: make(chan os.Signal, 3),
		drain: make(chan struct{}), quit: make(chan struct{}), ended: make(chan struct{}), patience: patience,
	}
	go s.listen()
	return context.WithValue(ctx, stopperKey{}, s), s
}

// stopperOf returns the stopper of a context, or one that gets no signal.
func stopperOf(ctx context.Context) *stopper {
	if s, ok := ctx.Value(stopperKey{}).(*stopper); ok {
		return s
	}
	return &stopper{}
}

// Drain sets the grace period of a run when its shards begin to be written. The channel is closed at the first
// signal: no further shard may begin.
func Drain(ctx context.Context, grace time.Duration) <-chan struct{} {
	s := stopperOf(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grace = grace
	return s.drain
}

// ReportSignals makes a run print on standard error which signal it gets, as the mode of --progress wants it, and an error if
// it does not end within the patience.
func ReportSignals(ctx context.Context, mode string, paint Paint) {
	s := stopperOf(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reportLate = func(err Interrupted) { PrintError(err, err.Status(), mode, paint) }
	switch mode {
	case "json":
		s.report = func(sig syscall.Signal, grace time.Duration) {
			WriteEvent(os.Stderr, "signal", signalEvent{signals[sig], grace.Seconds()})
		}
	case "plain":
		s.report = func(sig syscall.Signal, grace time.Duration) {
			if grace > 0 {
				fmt.Fprintf(os.Stderr, "%v: no more shards are begun; those under way have %v\n", sig, grace)
			}
		}
	}
}

// listen handles signals until End.
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
				s.print(sig, grace)
				continue
			}
			stop(sig)
			s.print(sig, 0)
		case <-over:
			if !stopped {
				stop(s.first)
			}
		case <-late:
			s.printLate(last)
			s.exit(128 + int(last))
			return
		case <-s.quit:
			return
		}
	}
}

// graceOf returns the grace period that begins with a signal; 0 for Ctrl-C.
func (s *stopper) graceOf(sig syscall.Signal) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sig == syscall.SIGINT {
		return 0
	}
	return s.grace
}

// print calls report in a goroutine, because the run must end even if standard error is a full pipe.
func (s *stopper) print(sig syscall.Signal, grace time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if report := s.report; report != nil {
		s.reports.Go(func() { report(sig, grace) })
	}
}

// printLate calls reportLate, and waits for it at most a tenth of the patience.
func (s *stopper) printLate(sig syscall.Signal) {
	s.mu.Lock()
	report := s.reportLate
	s.mu.Unlock()
	if report == nil {
		return
	}
	printed := make(chan struct{})
	go func() {
		report(Interrupted{Signal: sig, late: true})
		close(printed)
	}()
	select {
	case <-printed:
	case <-time.After(s.patience / 10):
	}
}

// End gives the signals back their default action. It returns the [Interrupted] that caused err, the error of the run, with how
// many shards were finished; or err itself.
func (s *stopper) End(ctx context.Context, err error) error {
	signal.Stop(s.signals)
	close(s.quit)
	<-s.ended
	s.reports.Wait()
	cause, ok := context.Cause(ctx).(Interrupted)
	s.cancel(nil)
	if !ok && s.first != 0 && errors.Is(err, write.ErrDrained) {
		cause, ok = Interrupted{Signal: s.first}, true
	}
	if !ok || err == nil {
		return err
	}
	if u, ok := errors.AsType[*write.Unfinished](err); ok {
		cause.finished = fmt.Sprintf(" with %d of %s finished", u.Finished, Counted(int64(u.Shards), "shard"))
	}
	return cause
}

// Interrupted is the error of a run that was ended by a signal.
type Interrupted struct {
	Signal   syscall.Signal
	finished string // " with 3 of 9 shards finished"; "" if no shards were being written
	late     bool   // the run did not end in time
}

// Status is the exit status of a process that was ended by the signal.
func (i Interrupted) Status() int { return 128 + int(i.Signal) }

func (i Interrupted) Error() string {
	if i.late {
		return fmt.Sprintf("%v: stopped without an end of what was under way; run the same command again", i.Signal)
	}
	if i.finished == "" {
		return fmt.Sprintf("%v: stopped; run the same command again", i.Signal)
	}
	return fmt.Sprintf("%v: stopped%s; the same command goes on from there", i.Signal, i.finished)
}
