package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A finding is all that was printed of one row.
type finding struct {
	row
	lines   []line
	took    time.Duration // sum over the tests of the row, also of concurrent ones
	failed  []string      // tests of it that have failed
	skipped []string      // why tests of it did not run
}

// sum returns the numbers of all lines.
func (f *finding) sum() line {
	all := line{id: f.id}
	for _, l := range f.lines {
		all.cases += l.cases
		all.undetected += l.undetected
		all.lost += l.lost
	}
	return all
}

// wrong returns the reason why the target is not met, "" if it is met.
func (f *finding) wrong() string {
	if len(f.lines) == 0 {
		if len(f.failed) > 0 {
			return "MISSED: " + strings.Join(f.failed, ", ") + " failed"
		}
		if len(f.skipped) > 0 {
			return "not run: " + strings.Join(f.skipped, "; ")
		}
		return "not run: no test prints it"
	}
	var why []string
	sum := f.sum()
	if sum.undetected > 0 {
		why = append(why, fmt.Sprintf("%d undetected", sum.undetected))
	}
	if sum.lost > 0 {
		why = append(why, fmt.Sprintf("%d lost", sum.lost))
	}
	if sum.cases < f.cases {
		why = append(why, fmt.Sprintf("fewer than %s cases", grouped(f.cases)))
	}
	for _, part := range f.parts {
		if !slices.ContainsFunc(f.lines, func(l line) bool { return l.part == part }) {
			why = append(why, strings.TrimSpace("no line "+part))
		}
	}
	if len(f.failed) > 0 {
		why = append(why, strings.Join(f.failed, ", ")+" failed")
	}
	why = append(why, f.skipped...)
	if len(why) == 0 {
		return ""
	}
	return "MISSED: " + strings.Join(why, "; ")
}

// verdict returns "met" or the reason why the target is not met.
func (f *finding) verdict() string {
	if why := f.wrong(); why != "" {
		return why
	}
	return "met"
}

// grouped returns a number with a comma after every three digits.
func grouped(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
