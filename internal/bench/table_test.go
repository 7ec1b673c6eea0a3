//go:build bench && linux

package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A row is one figure of the table.
type row struct {
	what    string
	figure  string // median, least and greatest of several
	target  string // empty: reported only
	ours    string
	against string
}

type table []row

// report enters a row in the table, and in the log of the test.
func report(t *testing.T, r row) {
	t.Helper()
	t.Logf("%s: %s (target %s); %s; against %s", r.what, r.figure, orDash(r.target), orDash(r.ours), orDash(r.against))
	results = append(results, r)
}

func (rows table) markdown() string {
	var b strings.Builder
	b.WriteString("| measured | figure | target | ffconvert | against |\n| --- | --- | --- | --- | --- |\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.what, r.figure, orDash(r.target), orDash(r.ours), orDash(r.against))
	}
	return b.String()
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// A series is one quantity, measured once a round.
type series []float64

func (s series) median() float64 {
	sorted := slices.Sorted(slices.Values(s))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// over divides by another series round by round.
func (s series) over(o series) series {
	ratios := make(series, len(s))
	for i := range s {
		ratios[i] = s[i] / o[i]
	}
	return ratios
}

// String is the median, and the range in brackets.
func (s series) String() string {
	return fmt.Sprintf("%.2f (%.2f–%.2f)", s.median(), slices.Min(s), slices.Max(s))
}

// rate says how fast n bytes are at the median of the seconds.
func rate(n int64, seconds series) string {
	return fmt.Sprintf("%.2f s, %.0f MB/s", seconds.median(), float64(n)/1e6/seconds.median())
}
