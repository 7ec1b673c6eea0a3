package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A suite collects the output of the tests.
type suite struct {
	rows     []*finding
	problems []string // failed tests and lines that belong to no row
	progress io.Writer

	tests  map[string][]string // output so far, by test
	owners map[string][]string // rows that a test has printed, by test
}

func newSuite(table []row, progress io.Writer) *suite {
	s := &suite{progress: progress, tests: make(map[string][]string), owners: make(map[string][]string)}
	for _, r := range table {
		s.rows = append(s.rows, &finding{row: r})
	}
	return s
}

// An event is a line of go test -json.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64 // seconds
}

// read processes the events of go test until the end of r.
func (s *suite) read(r io.Reader) error {
	in := bufio.NewReader(r)
	for {
		text, err := in.ReadBytes('\n')
		if len(text) > 0 && text[0] == '{' {
			var e event
			if err := json.Unmarshal(text, &e); err != nil {
				return fmt.Errorf("read go test: %w", err)
			}
			s.event(e)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// mostSaved is the number of output lines saved for a test, to print if it fails.
const mostSaved = 60

func (s *suite) event(e event) {
	name := e.Package + " " + e.Test
	switch e.Action {
	case "output", "build-output":
		if kept := append(s.tests[name], e.Output); len(kept) <= mostSaved {
			s.tests[name] = kept
		}
		s.line(name, e.Output)
	case "pass", "fail", "skip":
		for _, id := range s.of(e.Test, name) {
			f := s.row(id)
			if f == nil {
				continue
			}
			f.took += time.Duration(e.Elapsed * float64(time.Second))
			switch e.Action {
			case "fail":
				f.failed = append(f.failed, e.Test)
			case "skip":
				f.skipped = append(f.skipped, s.reason(name))
			}
		}
		if e.Action == "fail" {
			s.problems = append(s.problems, strings.TrimSpace(path.Base(e.Package)+" "+e.Test)+" failed")
			fmt.Fprint(s.progress, strings.Join(s.tests[name], ""))
		}
		delete(s.tests, name)
	case "build-fail":
		s.problems = append(s.problems, e.Package+" does not build")
	}
}

// named matches the row in the name of a test.
var named = regexp.MustCompile(`^TestFault([A-Z][0-9])`)

// of returns the rows of a test: the rows that it has printed and the row in its name.
func (s *suite) of(test, name string) []string {
	ids := s.owners[name]
	if m := named.FindStringSubmatch(test); m != nil && !slices.Contains(ids, m[1]) {
		ids = append(ids, m[1])
	}
	return ids
}

// line processes one line of output. Most do not belong to a row.
func (s *suite) line(name, text string) {
	l, ok, err := parseLine(text)
	if err != nil {
		s.problems = append(s.problems, err.Error())
	}
	if !ok {
		return
	}
	f := s.row(l.id)
	if f == nil {
		s.problems = append(s.problems, "a line that belongs to no row: "+strings.TrimSpace(text))
		return
	}
	f.lines = append(f.lines, l)
	if !slices.Contains(s.owners[name], l.id) {
		s.owners[name] = append(s.owners[name], l.id)
	}
	_, text, _ = strings.Cut(text, l.id) // without the source position
	fmt.Fprintf(s.progress, "  %s%s\n", l.id, strings.TrimRight(text, "\n"))
}

func (s *suite) row(id string) *finding {
	for _, f := range s.rows {
		if f.id == id {
			return f
		}
	}
	return nil
}

// reason returns the last message of a skipped test.
func (s *suite) reason(name string) string {
	for _, text := range slices.Backward(s.tests[name]) {
		if _, why, ok := strings.Cut(text, "_test.go:"); ok {
			_, why, _ = strings.Cut(why, ": ")
			return strings.TrimSpace(why)
		}
	}
	return "skipped"
}

// runTests runs every test of the module at its full size.
func (s *suite) runTests(packages []string) error {
	args := append([]string{"test", "-json", "-count=1", "-timeout", "100m"}, packages...)
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "FFCONVERT_FAULTS=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = s.read(out)
	if ended := cmd.Wait(); err == nil && ended != nil && len(s.problems) == 0 {
		err = fmt.Errorf("go test: %w", ended)
	}
	return err
}

// runFuzz runs the row of the fuzz targets by a rule of the Makefile, which prints its line.
func (s *suite) runFuzz() error {
	const rule = "fuzz-row"
	f := s.row("F1")
	if exec.Command("make", "-n", rule).Run() != nil {
		f.skipped = append(f.skipped, "the Makefile has no rule "+rule)
		return nil
	}
	began := time.Now()
	cmd := exec.Command("make", "-s", "--no-print-directory", rule)
	cmd.Stderr = s.progress
	out, err := cmd.Output()
	f.took = time.Since(began)
	for text := range strings.Lines(string(out)) {
		s.line("make "+rule, text)
	}
	if err != nil {
		return fmt.Errorf("make %s: %w", rule, err)
	}
	return nil
}
