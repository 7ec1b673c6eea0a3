package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A line is printed by a test for a row, or for one part of it:
//
//	B2 [csv] cases=214 undetected=0 lost=0 calls=214 # a note
type line struct {
	id, part   string
	cases      int
	undetected int // cases in which damage was taken for sound
	lost       int // cases that were not reported, not reported cleanly, or not repaired afterwards
	more       string
}

// shape matches a line anywhere in the output.
var shape = regexp.MustCompile(`(?:^|\s)([A-Z][0-9]+)(?: \[([a-z0-9-]+)\])? cases=([0-9]+) undetected=([0-9]+) lost=([0-9]+)((?: [a-z_]+=\S+)*)(?: # .*)?$`)

// begun matches output that resembles the start of a line.
var begun = regexp.MustCompile(`_test\.go:[0-9]+: [A-Z][0-9]+ (\[|[a-z_]+=)`)

// parseLine parses the line in the output of a test. ok is false if there is none. The error reports
// a malformed line.
func parseLine(text string) (l line, ok bool, err error) {
	text = strings.TrimRight(text, " \r\n")
	m := shape.FindStringSubmatch(text)
	if m == nil {
		if begun.MatchString(text) {
			return line{}, false, fmt.Errorf("not the shape of a row: %s", strings.TrimSpace(text))
		}
		return line{}, false, nil
	}
	l = line{id: m[1], part: m[2], more: strings.TrimSpace(m[6])}
	for i, n := range []*int{&l.cases, &l.undetected, &l.lost} {
		if *n, err = strconv.Atoi(m[3+i]); err != nil {
			return line{}, false, fmt.Errorf("%s: %w", l.id, err)
		}
	}
	return l, true, nil
}
