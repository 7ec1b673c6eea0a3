package bench

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Columns of the tables of docs/performance.md, from 0.
const (
	medianColumn = 4
	oursColumn   = 5
	theirsColumn = 6
)

// A report is the tables of docs/performance.md.
type report struct {
	t     *testing.T
	cells [][]string
}

// readReport reads the tables of the page.
func readReport(t *testing.T) report {
	t.Helper()
	page := docsPage(t, "performance.md")
	r := report{t: t}
	for line := range strings.Lines(page) {
		if cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | "); len(cells) >= 8 {
			cells[0] = strings.TrimSpace(cells[0])
			r.cells = append(r.cells, cells)
		}
	}
	return r
}

// number is the first number of a cell, or the one before a unit.
func (r report) number(row, work string, column int, unit string) float64 {
	r.t.Helper()
	var found []float64
	for _, cells := range r.cells {
		if cells[0] == row && cells[1] == work {
			m := regexp.MustCompile(`(\d[\d.]*)(?: \([^)]*\))? ?` + regexp.QuoteMeta(unit)).FindStringSubmatch(cells[column])
			if m == nil {
				r.t.Fatalf("performance.md: row %s, %s: no number of %q in %q", row, work, unit, cells[column])
			}
			x, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				r.t.Fatal(err)
			}
			found = append(found, x)
		}
	}
	if len(found) == 0 {
		r.t.Fatalf("performance.md has no line of row %s, %s", row, work)
	}
	return found[0]
}

// has reports whether there is such a line.
func (r report) has(row, work string) bool {
	return slices.ContainsFunc(r.cells, func(cells []string) bool { return cells[0] == row && cells[1] == work })
}

// median is the number in the column of medians.
func (r report) median(row, work string) float64 {
	r.t.Helper()
	return r.number(row, work, medianColumn, "")
}

// A claim is a figure of docs/sizing.md, or of the table of docs/clusters.md, that follows from rows.
type claim struct {
	page string // without .md
	line string // how its line begins
	rows string // that the line names
	want string // what else the line has
}

// long writes one time for 1, 10 and 100 TB as the cells of a line.
func long(seconds float64) string {
	return fmt.Sprintf("| %.0f min *x* | %.1f h *x* | %.0f h *x* |", seconds/60, seconds*10/3600, seconds*100/3600)
}

// price writes what processors cost for 1, 10 and 100 TB, each of several times a TB, as the cells of a line.
func price(seconds ...float64) (cells string) {
	for _, terabytes := range []float64{1, 10, 100} {
		cells += "| "
		for i, s := range seconds {
			if i > 0 {
				cells += "; "
			}
			cells += fmt.Sprintf("%.2f", s*terabytes*processorHour/3600)
		}
		cells += " $ *x* "
	}
	return cells + "|"
}

// tens rounds to tens.
func tens(x float64) float64 { return math.Round(x/10) * 10 }

const (
	verifiedTime = "user and system time of the same" // a figure of S2

	kiB, miB = 1024, 1 << 20
	hashing  = 550 // seconds of processor time a TB, of docs/decisions/016-proof.md

	processorHour = 0.05 // $, about what clouds ask for one of many on demand

	planned = "plan of 100000000 samples in 1000 parts"
	peak    = "peak anonymous memory of S2 at %s, `--jobs %d`"
	status  = "`status` of that plan, all done: time"
	task    = "a task of 20 shards by that plan"
)

// sizing returns the claims of docs/sizing.md.
func (r report) sizing() []claim {
	write, writeMore := r.median("S11", "user and system time, S1 1 ×"), r.median("S11", "user and system time, S1 16 ×")
	verify := r.median("S7", "`verify`: user and system time")
	terabyte, of := write*1e12/(1<<30)+verify*1000, "S7, S11"
	if r.has("S2", verifiedTime) { // not on older pages
		terabyte, of = r.median("S2", verifiedTime)*1e12/(1<<30), "S2"
	}
	disk := tens(r.number("C1", "2 GiB of samples of 100 KB in ten tars, cold, `--no-verify`", oursColumn, "MB/s"))
	ten := r.number("S9", "anonymous memory of each sample beyond 10000000", oursColumn, "MiB at 10000000")
	hundred, seconds, each := r.median("S9", planned+": memory, VmHWM"), r.median("S9", planned), r.median("S9", "anonymous memory of each sample beyond 10000000")
	two, eight, most := r.median("S10", fmt.Sprintf(peak, "2 GiB", 2)), r.median("S10", fmt.Sprintf(peak, "8 GiB", 2)), r.median("S10", fmt.Sprintf(peak, "32 GiB", 2))
	sixteen := r.median("S10", fmt.Sprintf(peak, "8 GiB", 16))
	device := r.number("S7", "`verify` of 1.94 GiB, cold, by the report's seconds", theirsColumn, "MB/s")
	return []claim{
		{"sizing", "| the same with `--sha256`", "", long(terabyte + hashing)},
		{"sizing", "| processors at 0.05 $ an hour", of, price(write*1e12/(1<<30), terabyte, terabyte+hashing)},
		{"sizing", "a core moves", of, fmt.Sprintf("a core moves %.1f GB/s, %.1f GB/s with `--sha256`", 1000/terabyte, 1000/(terabyte+hashing))},
		{"sizing", "| processor time, written and re-read", of, long(terabyte)},
		{"sizing", "| at the rate of the test machine's disk", "C1", fmt.Sprintf("%.0f MB/s *m* read and written at the same time, not re-read %s", disk, long(1e6/disk))},
		{"sizing", "| memory of `plan`", "S9", fmt.Sprintf("| %.2f GB *m* | %.1f GB *m* | %.0f GB *x*;", ten*miB/1e9, hundred*miB/1e9, each)},
		{"sizing", "| memory of a task", "S10", fmt.Sprintf("| %.0f; %.0f MiB *m* |", tens(most), tens(sixteen))},
		{"sizing", "A start costs nothing", "S13", fmt.Sprintf("(%.2f s and %.0f MiB *m*, by a plan of 200,000 shards;",
			r.median("S13", task+": time to its first event")/1000, r.median("S13", task+": memory at its first event, VmHWM"))},
		{"sizing", "`status` of 200,000 shards takes", "S13", fmt.Sprintf("%.1f s and %.0f MiB *m*", r.median("S13", status), r.number("S13", status, oursColumn, "MiB"))},
		{"sizing", "a name, 130 bytes of plan", "S13", fmt.Sprintf("%.0f operations on names", r.median("S13", "operations on names more for each shard that is written"))},
		{"sizing", "| 100 M samples that a source makes up", "S9", fmt.Sprintf("| %.0f s, %.1f GiB | %.0f GiB, %.0f min |", seconds, hundred/kiB, each*1e9/(1<<30), seconds*10/60)},
		{"sizing", "| processor time: ", "S7, S11", fmt.Sprintf("%.2f to %.2f s a GiB to write, %.3f s a GB to verify", writeMore, write, verify)},
		{"sizing", "| memory of a conversion of 2, 8 and 32 GiB", "S10", fmt.Sprintf(": %.0f, %.0f, %.0f MiB; `--jobs 16`: %.0f MiB", two, eight, most, sixteen)},
		{"sizing", "| plan of 10 M and 100 M samples", "S9", fmt.Sprintf(": %.0f MiB, %.1f GiB, %.1f s", ten, hundred/kiB, seconds)},
		{"sizing", fmt.Sprintf("| %.0f MB/s from and to one disk", disk), "C1", ""},
		{"sizing", "On a virtual machine", "S7", fmt.Sprintf("a device of %.1f GB/s", device/1000)},
	}
}

// clusters returns the claims of the table of docs/clusters.md, all of row S13.
func (r report) clusters() []claim {
	plan := "plan of 100000000 samples, 10000 parts, 200000 shards: memory, VmHWM"
	first, alone, done := task+": time to its first event", task+" that are done: time", task+" that are done, as all others are: time"
	few := "`status` of that plan, 14 tasks done: time"
	memory := func(work string) float64 { return r.number("S13", work, oursColumn, "MiB") }
	return []claim{
		{"clusters", "| `plan` |", "", fmt.Sprintf("| %.0f MiB (VmHWM), %.0f s", r.median("S13", plan), r.number("S13", plan, oursColumn, "s"))},
		{"clusters", "| its file |", "", fmt.Sprintf("| %.0f MiB:", memory("plan of 100000000 samples, 10000 parts, 200000 shards: its file"))},
		{"clusters", "| a task, before it writes |", "", fmt.Sprintf("| %.0f ms, %.0f MiB;", r.median("S13", first), r.median("S13", task+": memory at its first event, VmHWM"))},
		{"clusters", "| a task, in all |", "", fmt.Sprintf("| %.0f MiB |", memory(task+": memory at its first event, VmHWM"))},
		{"clusters", "| a task that has nothing left to do |", "", fmt.Sprintf("| %.0f ms, %.0f MiB; %.0f ms when all others are done; %.0f operations on names |", r.median("S13", alone),
			r.median("S13", task+" that are done: memory, VmHWM"), r.median("S13", done), r.median("S13", task+" that are done: operations on names"))},
		{"clusters", "| for each shard that is written |", "", fmt.Sprintf("| %.0f operations on names:", r.median("S13", "operations on names more for each shard that is written"))},
		{"clusters", "| `status` |", "", fmt.Sprintf("| %.1f s, %.0f MiB when 14 tasks are done; %.1f s, %.0f MiB when all are |", r.median("S13", few), memory(few), r.median("S13", status), memory(status))},
	}
}

// Figures of docs/sizing.md and docs/clusters.md that are said to be of a row are what docs/performance.md makes of them.
func TestFiguresFollowFromRows(t *testing.T) {
	t.Parallel()
	r := readReport(t)
	for _, c := range append(r.sizing(), r.clusters()...) {
		var found []string
		for line := range strings.Lines(docsPage(t, c.page+".md")) {
			if strings.HasPrefix(line, c.line) {
				found = append(found, strings.TrimSpace(line))
			}
		}
		if len(found) != 1 {
			t.Errorf("%s.md: %d lines begin with %q; want one, with %q", c.page, len(found), c.line, c.want)
			continue
		}
		if !strings.Contains(found[0], c.want) {
			t.Errorf("%s.md: %s\nwant %q, by performance.md", c.page, found[0], c.want)
		}
		for row := range strings.SplitSeq(c.rows, ", ") {
			if row != "" && !regexp.MustCompile(`\b`+row+`\b`).MatchString(found[0]) {
				t.Errorf("%s.md: %s\nnames no row %s", c.page, found[0], row)
			}
		}
	}
	page := docsPage(t, "sizing.md")
	commit := regexp.MustCompile("commit `[0-9a-f]{12}`")
	if named, want := commit.FindAllString(page, -1), commit.FindString(docsPage(t, "performance.md")); !slices.Equal(named, []string{want}) {
		t.Errorf("sizing.md names %q, performance.md %s", named, want)
	}
}
