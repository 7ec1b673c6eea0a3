// Command table runs all tests of the fault table. For each row it prints the number of cases, of
// undetected faults and of losses, and whether the target is met.
//
//	go run ./internal/faults/table                                   // make faults
//	go run ./internal/faults/table -report docs/reliability.md
//
// It runs every test at its full size and the fuzz targets, and reads the lines of this form that
// they print. PART and everything after lost=N are optional:
//
//	ID [PART] cases=N undetected=N lost=N key=value # note
//
// The exit status is 0 if every row has all its parts, enough cases, none undetected and none lost,
// and no test has failed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	report := flag.String("report", "", "rewrite the table in this `file`; refused where the tree has other changes")
	flag.Parse()
	packages := flag.Args()
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	if err := run(*report, packages); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

func run(report string, packages []string) error {
	if report != "" { // fail before the tests, which take a quarter of an hour
		if err := clean(report); err != nil {
			return err
		}
		if _, err := replaceTable(report, ""); err != nil {
			return err
		}
	}
	began := time.Now()
	s := newSuite(rows, os.Stderr)
	if err := errors.Join(s.runTests(packages), s.runFuzz()); err != nil {
		s.problems = append(s.problems, err.Error())
	}
	took := time.Since(began)
	missed := s.print(os.Stdout)
	for _, p := range s.problems {
		fmt.Println(p)
	}
	fmt.Printf("%d rows, %d met, in %v\n", len(s.rows), len(s.rows)-missed, took.Round(time.Second))
	if missed > 0 || len(s.problems) > 0 {
		return errors.New("the fault table is not met")
	}
	if report == "" {
		return nil
	}
	return s.writeReport(report, took)
}

// print prints one line per row and returns the number of rows that are not met.
func (s *suite) print(w io.Writer) (missed int) {
	const format = "%-3s %-48s %9s %10s %4s %9s %5s  %s\n"
	fmt.Fprintf(w, format, "", "fault", "cases", "undetected", "lost", "at least", "time", "target")
	for _, f := range s.rows {
		sum := f.sum()
		verdict := f.target + ": met"
		if f.wrong() != "" {
			missed++
			verdict = f.verdict()
		}
		fmt.Fprintf(w, format, f.id, f.fault, grouped(sum.cases), grouped(sum.undetected), grouped(sum.lost), grouped(f.cases), f.took.Round(time.Second), verdict)
	}
	return missed
}
