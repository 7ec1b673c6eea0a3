package terminal

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// writes keeps each Write.
type writes []string

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, string(p))
	return len(p), nil
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]|\r")

// atWork are states of phases as they begin, go on and end.
func atWork() map[string][]state {
	rows := make(map[string][]state)
	for name, last := range map[string]state{
		"small":      {Phase: "write + verify", Total: 700, Samples: 3, Of: 1, Seconds: 2},
		"usual":      {Phase: "write + verify", Total: 435 << 20, Samples: 6400, Of: 6, Seconds: 14},
		"large":      {Phase: "fetch + write + verify", Total: 53 << 40, Samples: 1_281_167_000, Of: 12_345, Seconds: 300_000},
		"index":      {Phase: "index", Total: 12 << 30, Samples: 1_281_167, Seconds: 9},
		"unknown":    {Phase: "index", Samples: 100_000, Seconds: 70},
		"first part": {Phase: "fetch the first part", Total: 1 << 30, Seconds: 4000},
	} {
		for i := range 101 {
			s := last
			part := func(n int64) int64 { return n / 100 * int64(i) }
			s.Samples, s.Bytes, s.Shards = part(last.Samples), part(last.Total), last.Of*int64(i)/100
			s.Seconds *= float64(i) / 100
			if last.Total > 0 {
				s.Done = float64(i) / 100
			}
			rows[name] = append(rows[name], s)
		}
	}
	return rows
}

// A frame is one write, and at every width one line of fewer columns than the terminal has.
func TestLineFits(t *testing.T) {
	t.Parallel()
	need.Time(t, "each width of a terminal")
	for name, states := range atWork() {
		for width := 1; width <= 200; width++ {
			var out writes
			v := newLineView(&out)
			v.width = func() int { return width }
			for i, s := range states {
				if v.show(s); len(out) != i+1 {
					t.Fatalf("%s: %d writes for %d frames", name, len(out), i+1)
				}
				line := escapes.ReplaceAllString(out[i], "")
				if n := utf8.RuneCountInString(line); n >= width && width > 1 || strings.Contains(line, "\n") {
					t.Fatalf("%s: %d of %d columns: %q", name, n, width, line)
				}
				if !strings.HasPrefix(out[i], "\r") || !strings.HasSuffix(out[i], clearBelow+"\r") {
					t.Fatalf("%s: the cursor does not rest at the beginning: %q", name, out[i])
				}
			}
			v.end(states[100])
			if last := out[len(out)-1]; len(out) != 102 || last != clearLine {
				t.Errorf("%s: ended by %q", name, last)
			}
		}
	}
}

// What stands in the line at 60, 80 and 120 columns.
func TestLine(t *testing.T) {
	t.Parallel()
	s := state{Phase: "write + verify", Samples: 3211, Bytes: 217_500_000, Total: 435_000_000, Shards: 2, Of: 16, Done: 0.455, Seconds: 64}
	for _, row := range []struct {
		width int
		want  string
	}{
		{60, "write [=====       ]  45%   2/16 shards  left 1:16"},
		{80, "write [=====       ]  45%   2/16 shards  218/435 MB  elapsed 1:04  left 1:16"},
		{120, "write [=====       ]  45%   2/16 shards  3,211 samples  218/435 MB  3.1 MB/s   elapsed 1:04  left 1:16"},
	} {
		v := newLineView(&bytes.Buffer{})
		v.pace.add(s)
		if got := v.line(s, row.width-1); got != row.want {
			t.Errorf("%d columns:\n%q, want\n%q", row.width, got, row.want)
		}
	}
	v := newLineView(&bytes.Buffer{})
	early := state{Phase: "write", Samples: 10, Bytes: 100_000_000, Total: 435_000_000, Of: 16, Done: 0.2, Seconds: 0.00002}
	v.pace.add(early)
	if got, want := v.line(early, 119), "write [==          ]  20%   0/16 shards  10 samples  100/435 MB  ? B/s      elapsed 0:00  left ?"; got != want {
		t.Errorf("at the beginning:\n%q, want\n%q", got, want)
	}
	unknown := state{Phase: "stage", Bytes: 1_234_567, Seconds: 3}
	v.pace.add(unknown)
	if got, want := v.line(unknown, 79), "stage |  1.2 MB  412 kB/s   elapsed 0:03"; got != want {
		t.Errorf("without a total:\n%q, want\n%q", got, want)
	}
}

// The fields of a line do not come and go while a phase goes on, but where a time comes to an hour.
func TestLineIsSteady(t *testing.T) {
	t.Parallel()
	names := regexp.MustCompile(`[a-z]{5,}|left|B/s`)
	for name, states := range atWork() {
		for _, width := range []int{60, 80, 120} {
			v := newLineView(&bytes.Buffer{})
			var layouts []string
			for _, s := range states[10:] {
				v.pace.add(s)
				line := v.line(s, width-1)
				layout := strings.Join(names.FindAllString(line, -1), " ")
				if layouts == nil || layouts[len(layouts)-1] != layout {
					layouts = append(layouts, layout)
				}
			}
			if len(layouts) > 3 {
				t.Errorf("%s, %d columns: %q", name, width, layouts)
			}
		}
	}
}

// The rate and the time that is left are means: neither a first buffer nor one pause makes them.
func TestPace(t *testing.T) {
	t.Parallel()
	var p pace
	at := func(seconds, done float64) state {
		s := state{Total: 1000e6, Bytes: int64(done * 1000e6), Done: done, Seconds: seconds}
		p.add(s)
		return s
	}
	for _, seconds := range []float64{0.00001, 0.2, 0.9} {
		if s := at(seconds, 0.01); p.bytes() >= 0 || p.left(s) != "?" {
			t.Errorf("after %v s: %v, %v left", seconds, p.bytes(), p.left(s))
		}
	}
	var s state
	for i := 5; i <= 500; i++ { // 10 MB/s for 50 s, by 0.1 s
		s = at(float64(i)/10+0.5, float64(i)/1000)
	}
	if rate := p.bytes(); rate < 9.5e6 || rate > 10.5e6 || p.left(s) != "0:50" && p.left(s) != "0:49" {
		t.Errorf("%.0f B/s, %s left; want 10 MB/s and 0:50", rate, p.left(s))
	}
	s = at(51.5, 0.5) // nothing for a second
	if rate := p.bytes(); rate < 9e6 || p.left(s) < "0:50" || p.left(s) > "0:53" {
		t.Errorf("after a pause: %.0f B/s, %s left", rate, p.left(s))
	}
	for i := range 100 {
		s = at(52+float64(i), 0.5)
	}
	if p.bytes() != 0 || p.left(s) != "?" {
		t.Errorf("where nothing goes on: %.0f B/s, %s left", p.bytes(), p.left(s))
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[float64]string{0: "0:00", 0.9: "0:00", 7: "0:07", 750: "12:30", 3723: "1:02:03", 100_000: "27:46:40", 242_301_600: "2804 days"} {
		if got := clock(seconds); got != want {
			t.Errorf("%v: %q, want %q", seconds, got, want)
		}
	}
}

func TestPlainLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	v := plainView{out: &out}
	v.show(state{Phase: "write + verify", Samples: 3211, Bytes: 217_500_000, Total: 435_000_000, Shards: 2, Of: 16, Done: 0.455, Seconds: 64})
	if want := "write + verify: 2 of 16 shards, 3,211 samples, 218 MB of 435 MB (45 %), 3.1 MB/s, elapsed 1:04, left 1:16\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
