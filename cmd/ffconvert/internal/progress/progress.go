// Package progress shows how far a command is, on standard error: as one line that is drawn again
// and again, as lines of a log, or as events for programs, a JSON object a line.
//
//	r := progress.New(flag, os.Stderr)
//	defer r.Stop()
//	r.Start("index", 0)
//	r.Add(samples, bytes)
//	r.Say(summary)
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/dataset"
)

// A progressFlag is the flag --progress, with what the flags of all commands add to it.
type Flag struct {
	option.Choice
	Verbose bool
	Color   string
}

func NewFlag() Flag {
	return Flag{Choice: option.Choice{Value: "auto", Words: []string{"auto", "bar", "plain", "json", "none"}}, Color: terminal.ColorAuto}
}

// Choices are the words that the flag takes.
func (f *Flag) Choices() []string { return f.Words }

const Usage = "progress on standard error: auto, bar, plain, none, or json for events, an object a line, errors too"

// A reporter shows how the work goes on, one phase after another. Counting costs an
// atomic addition; a goroutine of its own does the showing.
type Reporter struct {
	mode    string
	out     io.Writer
	verbose bool
	paint   terminal.Paint

	samples, bytes, moved  atomic.Int64 // of the phase
	beside, shards, finish atomic.Int64 // bytes to be moved; shards to be written, and finished

	mu    sync.Mutex // guards what follows
	phase string
	total int64
	began time.Time
	quit  chan struct{} // closed to end the phase's showing; nil between phases
	ended chan struct{}

	drawing sync.Mutex // guards view, and the writing of it
	view    view       // of the phase; nil: none
}

// A view shows the state of one phase. Its methods are not called concurrently.
type view interface {
	show(s state)
	// print shows a line that stays.
	print(line string)
	end(s state)
	// next is how long after so much of a phase the view is to be shown again.
	next(elapsed time.Duration) time.Duration
}

// A state is how far a phase is.
type state struct {
	Phase   string  `json:"phase"`
	Samples int64   `json:"samples"`
	Bytes   int64   `json:"bytes"`
	Total   int64   `json:"total_bytes"`
	Seconds float64 `json:"seconds"`
	Done    float64 `json:"fraction"`         // of the work, 0 to 1, re-reading and fetching too; 0 where Total is not known
	Shards  int64   `json:"shards,omitempty"` // finished
	Of      int64   `json:"total_shards,omitempty"`
}

// New returns a reporter that shows what the flags ask for.
func New(how Flag, out *os.File) *Reporter {
	return &Reporter{mode: Mode(how.Value, out), out: out, verbose: how.Verbose, paint: terminal.PaintOf(how.Color, out)}
}

// Mode is the mode that auto means.
func Mode(mode string, out *os.File) string {
	switch {
	case mode != "auto":
		return mode
	case terminal.OnTerminal(out):
		return "bar"
	}
	return "plain"
}

// Start begins a phase; the one before is over, and so is what showed it.
func (r *Reporter) Start(phase string, bytes int64) {
	r.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range []*atomic.Int64{&r.samples, &r.bytes, &r.moved, &r.beside, &r.shards, &r.finish} {
		n.Store(0)
	}
	r.phase, r.total, r.began = phase, bytes, time.Now()
	v := r.newView()
	if v == nil {
		return
	}
	r.drawing.Lock()
	r.view = v
	r.drawing.Unlock()
	r.quit, r.ended = make(chan struct{}), make(chan struct{})
	go r.run(v, r.quit, r.ended)
}

func (r *Reporter) newView() view {
	switch r.mode {
	case "bar":
		return newLineView(r.out)
	case "plain":
		return &plainView{out: r.out}
	case "json":
		return jsonView{r.out}
	}
	return nil
}

func (r *Reporter) run(v view, quit, ended chan struct{}) {
	defer close(ended)
	for {
		timer := time.NewTimer(v.next(time.Since(r.began)))
		select {
		case <-timer.C:
			r.drawing.Lock()
			v.show(r.state())
			r.drawing.Unlock()
		case <-quit:
			timer.Stop()
			return
		}
	}
}

// state is how far the phase is, never beyond its end: data that must be read again is not counted
// twice.
func (r *Reporter) state() state {
	s := state{Phase: r.phase, Samples: r.samples.Load(), Bytes: r.bytes.Load(), Total: r.total,
		Shards: r.finish.Load(), Of: r.shards.Load(), Seconds: time.Since(r.began).Seconds()}
	if r.total > 0 {
		beside := r.beside.Load()
		s.Bytes = min(s.Bytes, r.total)
		s.Done = float64(s.Bytes+min(r.moved.Load(), beside)) / float64(r.total+beside)
	}
	return s
}

// Add counts data that the phase has dealt with.
func (r *Reporter) Add(samples, bytes int64) {
	r.samples.Add(samples)
	r.bytes.Add(bytes)
}

// Planned says on one line which shards are kept of a run before, where there are any.
func (r *Reporter) Planned(shards, kept int, beside int64) {
	r.beside.Store(beside)
	r.shards.Store(int64(shards))
	if kept > 0 && (r.mode == "bar" || r.mode == "plain") {
		r.print(fmt.Sprintf("%d of %s kept, %d to write", kept, terminal.Counted(int64(kept+shards), "shard"), shards))
	}
}

// Moved counts bytes that are fetched or read again.
func (r *Reporter) Moved(bytes int64) { r.moved.Add(bytes) }

// Fetched counts bytes that have come in: the data itself where nothing else is to be done with it.
func (r *Reporter) Fetched(bytes int64) {
	if r.beside.Load() > 0 {
		r.Moved(bytes)
	} else {
		r.Add(0, bytes)
	}
}

// Begun tells programs that the writing of a shard begins.
func (r *Reporter) Begun(name string) {
	if r.mode == "json" {
		WriteEvent(r.out, "begun", begunEvent{name})
	}
}

// Finished counts a finished shard and tells programs of it, people with --verbose.
func (r *Reporter) Finished(s dataset.ManifestShard, seconds float64, first bool) {
	r.finish.Add(1)
	switch {
	case r.mode == "json":
		WriteEvent(r.out, "shard", shardEvent{s.Name, s.Samples, s.Bytes, seconds, first})
	case r.verbose && r.mode != "none":
		by := ""
		if !first {
			by = ", the same as another process has written"
		}
		r.print(fmt.Sprintf("%s: %s, %s in %.1f s%s", s.Name, terminal.Counted(s.Samples, "sample"), humanize.Bytes(uint64(s.Bytes)), seconds, by))
	}
}

// print shows a line that stays, whatever is shown of the phase.
func (r *Reporter) print(line string) {
	r.drawing.Lock()
	defer r.drawing.Unlock()
	if r.view != nil {
		r.view.print(line)
	} else {
		fmt.Fprintln(r.out, line)
	}
}

// Stop ends the phase, if there is one.
func (r *Reporter) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.quit == nil {
		return
	}
	close(r.quit)
	<-r.ended
	r.quit = nil
	r.drawing.Lock()
	defer r.drawing.Unlock()
	s := r.state()
	r.view.end(s)
	r.view = nil
	if r.verbose && r.mode != "json" {
		fmt.Fprintf(r.out, "%s: %s, %s in %.1f s\n", s.Phase, terminal.Counted(s.Samples, "sample"), humanize.Bytes(uint64(s.Bytes)), s.Seconds)
	}
}

// Waiting tells what the run waits for, before it begins.
func (r *Reporter) Waiting(what string) {
	switch r.mode {
	case "none":
	case "json":
		WriteEvent(r.out, "waiting", waitingEvent{what})
	default:
		fmt.Fprintf(r.out, "waiting: %s\n", what)
	}
}

// A closingLine tells what was made: as text for people, as JSON for programs.
type ClosingLine fmt.Stringer

// Say ends the phase and prints the one line that tells what was made. Its head is green, or yellow
// where shards were never re-read.
func (r *Reporter) Say(summary ClosingLine) {
	r.Stop()
	switch r.mode {
	case "none":
	case "json":
		WriteEvent(r.out, "done", summary)
	default:
		dress := r.paint.Good
		if w, ok := summary.(interface{ doubtful() bool }); ok && w.doubtful() {
			dress = r.paint.Warn
		}
		fmt.Fprintln(r.out, r.paint.Head(summary.String(), dress))
	}
}

// DoneQuietly tells programs that all went well, where the result is not on standard error.
func (r *Reporter) DoneQuietly(summary any) {
	if r.mode == "json" {
		WriteEvent(r.out, "done", summary)
	}
}

// plainView writes a line now and then, for logs: every five seconds at first, every minute after
// ten of them.
type plainView struct {
	out  io.Writer
	pace pace
}

func (v *plainView) next(elapsed time.Duration) time.Duration {
	return min(max(elapsed/10, 5*time.Second), time.Minute)
}

func (v *plainView) show(s state) {
	v.pace.add(s)
	parts := []string{terminal.Counted(s.Samples, "sample"), humanize.Bytes(uint64(s.Bytes))}
	if s.Of > 0 {
		parts = append([]string{fmt.Sprintf("%d of %s", s.Shards, terminal.Counted(s.Of, "shard"))}, parts...)
	}
	if s.Total > 0 {
		parts[len(parts)-1] += fmt.Sprintf(" of %s (%d %%)", humanize.Bytes(uint64(s.Total)), percent(s))
	}
	parts = append(parts, terminal.RateText(v.pace.bytes()), "elapsed "+clock(s.Seconds))
	if s.Total > 0 {
		parts = append(parts, "left "+v.pace.left(s))
	}
	fmt.Fprintln(v.out, s.Phase+": "+strings.Join(parts, ", "))
}

func (v *plainView) print(line string) { fmt.Fprintln(v.out, line) }
func (v *plainView) end(state)         {}

// jsonView writes events, for programs.
type jsonView struct{ out io.Writer }

func (v jsonView) next(time.Duration) time.Duration { return time.Second }
func (v jsonView) show(s state)                     { WriteEvent(v.out, "progress", s) }
func (v jsonView) print(string)                     {}
func (v jsonView) end(s state)                      { v.show(s) }
