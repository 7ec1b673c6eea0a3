package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/option"
)

// Progress is the flag --progress, with the values of --verbose and --color.
type Progress struct {
	option.Choice
	Verbose bool
	Color   string
}

// Add registers the flag.
func (p *Progress) Add(flags *pflag.FlagSet) {
	p.Choice = option.Choice{Value: "auto", Words: []string{"auto", "bar", "plain", "json", "none"}}
	flags.Var(p, "progress", "progress on standard error: auto, bar, plain, none, or json for events, an object a line, errors too")
}

// Mode returns the value; for auto, bar if out is a terminal, else plain.
func (p *Progress) Mode(out *os.File) string {
	switch {
	case p.Value != "auto":
		return p.Value
	case onTerminal(out):
		return "bar"
	}
	return "plain"
}

// A Reporter shows the progress of one phase after another. Counting costs an atomic addition; one
// goroutine does the drawing.
type Reporter struct {
	mode    string
	out     io.Writer
	verbose bool
	paint   Paint

	// Counts of the phase.
	samples, bytes atomic.Int64
	moved, toMove  atomic.Int64 // bytes that were, and are to be, fetched or re-read
	filtered       atomic.Int64 // samples that a filter has answered
	shards, finish atomic.Int64 // shards to write, and those that are finished

	mu    sync.Mutex // guards the fields below
	phase string
	total int64
	began time.Time
	quit  chan struct{} // closed at the end of the phase; nil between phases
	ended chan struct{}

	drawing sync.Mutex // guards view and its writes
	view    view       // nil between phases
}

// A view shows the state of one phase. Calls do not overlap.
type view interface {
	show(s state)
	// print writes a line that stays.
	print(line string)
	end(s state)
	// next returns the time until the next call of show, given the time since the phase began.
	next(elapsed time.Duration) time.Duration
}

// A state is the progress of a phase at one moment.
type state struct {
	Phase   string  `json:"phase"`
	Samples int64   `json:"samples"`
	Bytes   int64   `json:"bytes"`
	Total   int64   `json:"total_bytes"`
	Seconds float64 `json:"seconds"`
	Done    float64 `json:"fraction"`         // of the work, 0 to 1, re-reading and fetching included; 0 if Total is not known
	Shards  int64   `json:"shards,omitempty"` // finished
	Of      int64   `json:"total_shards,omitempty"`

	Filtered int64 `json:"filter_samples,omitempty"` // that a filter has answered
}

// NewReporter returns a Reporter that writes to out in the mode of the flag.
func NewReporter(how Progress, out *os.File) *Reporter {
	return &Reporter{mode: how.Mode(out), out: out, verbose: how.Verbose, paint: PaintOf(how.Color, out)}
}

// Start ends the current phase and begins the next. bytes is its total, 0 if that is not known.
func (r *Reporter) Start(phase string, bytes int64) {
	r.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range []*atomic.Int64{&r.samples, &r.bytes, &r.moved, &r.filtered, &r.toMove, &r.shards, &r.finish} {
		n.Store(0)
	}
	r.phase, r.total, r.began = phase, bytes, time.Now()
	var v view
	switch r.mode {
	case "bar":
		v = newLineView(r.out)
	case "plain":
		v = &plainView{out: r.out}
	case "json":
		v = jsonView{r.out}
	default:
		return
	}
	r.drawing.Lock()
	r.view = v
	r.drawing.Unlock()
	r.quit, r.ended = make(chan struct{}), make(chan struct{})
	go r.run(v, r.quit, r.ended)
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

// state returns the state of the phase now. Bytes are at most the total, though data that is read a
// second time after a failure is added twice.
func (r *Reporter) state() state {
	s := state{Phase: r.phase, Samples: r.samples.Load(), Bytes: r.bytes.Load(), Total: r.total,
		Shards: r.finish.Load(), Of: r.shards.Load(), Seconds: time.Since(r.began).Seconds(), Filtered: r.filtered.Load()}
	if r.total > 0 {
		toMove := r.toMove.Load()
		s.Bytes = min(s.Bytes, r.total)
		s.Done = float64(s.Bytes+min(r.moved.Load(), toMove)) / float64(r.total+toMove)
	}
	return s
}

// Add counts data that the phase has processed.
func (r *Reporter) Add(samples, bytes int64) {
	r.samples.Add(samples)
	r.bytes.Add(bytes)
}

// Planned sets the number of shards to write, and the bytes to be moved: fetched or re-read in addition to
// the bytes of the phase. It prints how many shards of an earlier run are kept, if any are.
func (r *Reporter) Planned(shards, kept int, moved int64) {
	r.toMove.Store(moved)
	r.shards.Store(int64(shards))
	if kept > 0 && (r.mode == "bar" || r.mode == "plain") {
		r.print(fmt.Sprintf("%d of %s kept, %d to write", kept, Counted(int64(kept+shards), "shard"), shards))
	}
}

// Moved counts bytes that were fetched or re-read.
func (r *Reporter) Moved(bytes int64) { r.moved.Add(bytes) }

// Fetched counts bytes that were fetched. In a phase that only fetches they are the phase's data.
func (r *Reporter) Fetched(bytes int64) {
	if r.toMove.Load() > 0 {
		r.Moved(bytes)
	} else {
		r.Add(0, bytes)
	}
}

// Begun writes the event that the writing of a shard begins.
func (r *Reporter) Begun(name string) {
	if r.mode == "json" {
		WriteEvent(r.out, "begun", map[string]string{"name": name})
	}
}

// Finished counts a finished shard. It writes an event, or with --verbose a line. first is false if
// another process had written the same shard before.
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
		r.print(fmt.Sprintf("%s: %s, %s in %.1f s%s", s.Name, Counted(s.Samples, "sample"), humanize.Bytes(uint64(s.Bytes)), seconds, by))
	}
}

// Filtered counts samples that a filter has answered. In the phase index their bytes are the phase's data.
func (r *Reporter) Filtered(samples, bytes int64) {
	r.filtered.Add(samples)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.phase == "index" {
		r.bytes.Add(bytes)
	}
}

// print writes a line that stays, above the line of progress.
func (r *Reporter) print(line string) {
	r.drawing.Lock()
	defer r.drawing.Unlock()
	if r.view != nil {
		r.view.print(line)
	} else {
		fmt.Fprintln(r.out, line)
	}
}

// Stop ends the phase, if one is under way.
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
		fmt.Fprintf(r.out, "%s: %s in %.1f s\n", s.Phase, strings.Join(s.amounts(), ", "), s.Seconds)
	}
}

// Waiting prints what the command waits for before it begins.
func (r *Reporter) Waiting(what string) {
	r.emit("waiting", map[string]string{"for": what}, "waiting: "+what)
}

// Say ends the phase and prints the closing line of the command: its String, or its JSON as the done event. The head of the line is
// green, or yellow if its method doubtful returns true. A summary without a String, of a command that prints its result on standard
// output, is an event only.
func (r *Reporter) Say(summary any) {
	r.Stop()
	line, ok := summary.(fmt.Stringer)
	switch {
	case r.mode == "json":
		WriteEvent(r.out, "done", summary)
	case ok && r.mode != "none":
		dress := r.paint.Good
		if s, ok := summary.(interface{ doubtful() bool }); ok && s.doubtful() {
			dress = r.paint.warn
		}
		fmt.Fprintln(r.out, r.paint.Head(line.String(), dress))
	}
}

// plainView writes lines for logs: every five seconds at first, every minute after ten minutes.
type plainView struct {
	out  io.Writer
	pace pace
}

func (v *plainView) next(elapsed time.Duration) time.Duration {
	return min(max(elapsed/10, 5*time.Second), time.Minute)
}

func (v *plainView) show(s state) {
	v.pace.add(s)
	parts := s.amounts()
	if s.Filtered > 0 {
		parts = append([]string{filteredText(s)}, parts...)
	}
	if s.Of > 0 {
		parts = append([]string{fmt.Sprintf("%d of %s", s.Shards, Counted(s.Of, "shard"))}, parts...)
	}
	if s.Total > 0 {
		parts[len(parts)-1] += fmt.Sprintf(" of %s (%d %%)", humanize.Bytes(uint64(s.Total)), percent(s))
	}
	parts = append(parts, RateText(v.pace.bytes()), "elapsed "+clock(s.Seconds))
	if s.Total > 0 {
		parts = append(parts, "left "+v.pace.left(s))
	}
	fmt.Fprintln(v.out, s.Phase+": "+strings.Join(parts, ", "))
}

// amounts are the samples, which a copy does not count, and the bytes.
func (s *state) amounts() []string {
	bytes := humanize.Bytes(uint64(s.Bytes))
	if s.Samples == 0 {
		return []string{bytes}
	}
	return []string{Counted(s.Samples, "sample"), bytes}
}

func filteredText(s state) string { return humanize.Comma(s.Filtered) + " filtered" }

func (v *plainView) print(line string) { fmt.Fprintln(v.out, line) }
func (v *plainView) end(state)         {}

// jsonView writes an event every second.
type jsonView struct{ out io.Writer }

func (v jsonView) next(time.Duration) time.Duration { return time.Second }
func (v jsonView) show(s state)                     { WriteEvent(v.out, "progress", s) }
func (v jsonView) print(string)                     {}
func (v jsonView) end(s state)                      { v.show(s) }
