package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A line is what a test prints of a row, or of one part of it:
//
//	B2 [csv] cases=214 undetected=0 lost=0 calls=214 # what else is to be said
type line struct {
	id, part   string
	cases      int
	undetected int // something that was not sound was taken for sound
	lost       int // not reported, not cleanly, or not made good afterwards
	more       string
}

// shape is that of a line, wherever it stands in the output.
var shape = regexp.MustCompile(`(?:^|\s)([A-Z][0-9]+)(?: \[([a-z0-9-]+)\])? cases=([0-9]+) undetected=([0-9]+) lost=([0-9]+)((?: [a-z_]+=\S+)*)(?: # .*)?$`)

// begun is what looks as if it were meant to be a line.
var begun = regexp.MustCompile(`_test\.go:[0-9]+: [A-Z][0-9]+ (\[|[a-z_]+=)`)

// parseLine returns the line in a test's output. An error says that one was meant, but
// nobody would understand it.
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
