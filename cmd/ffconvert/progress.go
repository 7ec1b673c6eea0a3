package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard"
)

// A progressFlag is the flag --progress, with what the flags of all commands add to it.
type progressFlag struct {
	choiceValue
	verbose bool
	color   string
}

func progressValue() progressFlag {
	return progressFlag{choiceValue: choiceValue{value: "auto", choices: []string{"auto", "bar", "plain", "json", "none"}}, color: colorAuto}
}

const progressUsage = "progress on standard error: auto, bar, plain, none, or json for events, an object a line, errors too"

// A reporter shows how the work goes on, one phase after another. Counting costs an
// atomic addition; a goroutine of its own does the showing.
type reporter struct {
	mode string
	out  io.Writer

	samples, bytes atomic.Int64 // of the phase

	mu    sync.Mutex // guards what follows
	phase string
	total int64
	began time.Time
	quit  chan struct{} // closed to end the phase's showing; nil between phases
	ended chan struct{}
}

// A view shows the state of one phase.
type view interface {
	show(s state)
	end(s state)
}

// A state is how far a phase is.
type state struct {
	Phase   string  `json:"phase"`
	Samples int64   `json:"samples"`
	Bytes   int64   `json:"bytes"`
	Total   int64   `json:"total_bytes"`
	Seconds float64 `json:"seconds"`
}

// newReporter returns a reporter that shows what the flags ask for.
func newReporter(how progressFlag, out *os.File) *reporter {
	return &reporter{mode: shownAs(how.value, out), out: out}
}

// shownAs is the mode that auto means.
func shownAs(mode string, out *os.File) string {
	switch {
	case mode != "auto":
		return mode
	case term.IsTerminal(int(out.Fd())):
		return "bar"
	}
	return "plain"
}

// Start begins a phase; the one before is over.
func (r *reporter) Start(phase string, bytes int64) {
	r.stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samples.Store(0)
	r.bytes.Store(0)
	r.phase, r.total, r.began = phase, bytes, time.Now()
	v, every := r.newView()
	if v == nil {
		return
	}
	r.quit, r.ended = make(chan struct{}), make(chan struct{})
	go r.run(v, every, r.quit, r.ended)
}

func (r *reporter) newView() (view, time.Duration) {
	switch r.mode {
	case "bar":
		return newBar(r.out, r.phase, r.total), 100 * time.Millisecond
	case "plain":
		return plainView{r.out}, 5 * time.Second
	case "json":
		return jsonView{r.out}, time.Second
	}
	return nil, 0
}

func (r *reporter) run(v view, every time.Duration, quit, ended chan struct{}) {
	defer close(ended)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			v.show(r.state())
		case <-quit:
			v.end(r.state())
			return
		}
	}
}

// state is how far the phase is, never beyond its end: what must be read again is no more work done.
func (r *reporter) state() state {
	done := r.bytes.Load()
	if r.total > 0 {
		done = min(done, r.total)
	}
	return state{r.phase, r.samples.Load(), done, r.total, time.Since(r.began).Seconds()}
}

// Add counts work done in the phase.
func (r *reporter) Add(samples, bytes int64) {
	r.samples.Add(samples)
	r.bytes.Add(bytes)
}

// Begun tells programs that the writing of a shard begins.
func (r *reporter) Begun(name string) {
	if r.mode == "json" {
		writeEvent(r.out, "begun", begunEvent{name})
	}
}

// Finished tells programs that a shard is finished.
func (r *reporter) Finished(s shard.ManifestShard, seconds float64, first bool) {
	if r.mode == "json" {
		writeEvent(r.out, "shard", shardEvent{s.Name, s.Samples, s.Bytes, seconds, first})
	}
}

// stop ends the phase, if there is one.
func (r *reporter) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.quit != nil {
		close(r.quit)
		<-r.ended
		r.quit = nil
	}
}

// staging returns what counts staged bytes. The phase begins with the first of them:
// most inputs need no staging. Where the size of one is not known, nor is the total.
func (r *reporter) staging(found []input.Name) func(string, int64) {
	total := int64(0)
	for _, n := range found {
		total += n.Size
		if n.Size < 0 {
			total = 0
			break
		}
	}
	var begin sync.Once
	return func(_ string, n int64) {
		begin.Do(func() { r.Start("stage", total) })
		r.Add(0, n)
	}
}

// waiting tells what the run waits for, before it begins.
func (r *reporter) waiting(what string) {
	switch r.mode {
	case "none":
	case "json":
		writeEvent(r.out, "waiting", waitingEvent{what})
	default:
		fmt.Fprintf(r.out, "waiting: %s\n", what)
	}
}

// say ends the phase and prints the one line that tells what was made.
func (r *reporter) say(summary fmt.Stringer) {
	r.stop()
	switch r.mode {
	case "none":
	case "json":
		writeEvent(r.out, "done", summary)
	default:
		fmt.Fprintln(r.out, summary)
	}
}

// plainView writes a line now and then, for logs.
type plainView struct{ out io.Writer }

func (v plainView) show(s state) {
	line := fmt.Sprintf("%s: %s, %s", s.Phase, counted(s.Samples, "sample"), humanize.IBytes(uint64(s.Bytes)))
	if s.Total > 0 {
		line += fmt.Sprintf(" of %s (%d %%)", humanize.IBytes(uint64(s.Total)), 100*s.Bytes/s.Total)
	}
	line += fmt.Sprintf(", %.0f MB/s", float64(s.Bytes)/1e6/s.Seconds)
	if s.Bytes > 0 && s.Total > s.Bytes {
		left := time.Duration(s.Seconds * float64(s.Total-s.Bytes) / float64(s.Bytes) * float64(time.Second))
		line += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	fmt.Fprintln(v.out, line)
}

func (plainView) end(state) {}

// jsonView writes events, for programs.
type jsonView struct{ out io.Writer }

func (v jsonView) show(s state) { writeEvent(v.out, "progress", s) }
func (v jsonView) end(s state)  { v.show(s) }

// barView draws a bar, for people.
type barView struct{ bar *progressbar.ProgressBar }

func newBar(out io.Writer, phase string, total int64) barView {
	if total <= 0 {
		total = -1 // a spinner
	}
	return barView{progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetDescription(phase),
		progressbar.OptionShowBytes(true),
		progressbar.OptionShowCount(),
		progressbar.OptionShowTotalBytes(true),
		progressbar.OptionUseIECUnits(true),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(65*time.Millisecond), // a new description and a new number are one redraw
		progressbar.OptionFullWidth(),
		progressbar.OptionClearOnFinish(),
	)}
}

func (v barView) show(s state) {
	v.bar.Set64(min(s.Bytes, max(0, s.Total)))
	if s.Samples > 0 {
		v.bar.Describe(s.Phase + "  " + counted(s.Samples, "sample"))
	}
}

func (v barView) end(state) { v.bar.Clear() }
