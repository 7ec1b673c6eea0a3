//go:build fuzz

package fuzz

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
)

// TestAll fuzzes all targets: make fuzz.
func TestAll(t *testing.T) {
	all, _ := inTree(t)
	fuzz(t, all)
}

// TestRowF1 fuzzes the ten targets of row F1: make fuzz-row.
func TestRowF1(t *testing.T) { fuzz(t, targetsF1()) }

func targetsF1() []target {
	var ten []target
	for _, row := range rowF1 {
		ten = append(ten, row.target)
	}
	return ten
}

// fuzz gives each target one CPU for FUZZTIME, 30 seconds if it is not set. As many run at once as
// there are CPUs. It logs a line for each target, then row F1: the inputs that were tried, and the number
// of targets that failed.
func fuzz(t *testing.T, run []target) {
	fuzztime := cmp.Or(os.Getenv("FUZZTIME"), "30s")
	ten := targetsF1()
	type outcome struct {
		out []byte
		err error
	}
	results := make([]chan outcome, len(run))
	cpus := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, target := range run {
		results[i] = make(chan outcome, 1)
		go func() {
			cpus <- struct{}{}
			defer func() { <-cpus }()
			// Few calls to make an input smaller: the default is to spend a minute.
			out, err := exec.Command("go", "test", "-vet=off", "-run", "^$", "-fuzz", "^"+target.name+"$", "-fuzztime", fuzztime,
				"-parallel", "1", "-fuzzminimizetime", "100x", "./"+root+"/"+target.pkg).CombinedOutput()
			results[i] <- outcome{out, err}
		}()
	}
	tried, failed, ran := 0, 0, 0
	for i, target := range run {
		result := <-results[i]
		out, err := result.out, result.err
		execs, interesting := last(out, execsOf), last(out, interestingOf)
		ended := ""
		if err != nil && onlyTheDeadline(string(out)) {
			ended, err = " (ended by go.dev/issue/75804)", nil
		}
		crashers := 0
		if err != nil {
			crashers = 1
			t.Errorf("%v: %v\n%s", target, err, out)
		}
		line := fmt.Sprintf("%v execs=%d interesting=%d crashers=%d%s", target, execs, interesting, crashers, ended)
		if err == nil && execs == 0 {
			t.Errorf("%s: nothing was tried\n%s", line, out)
		} else {
			t.Log(line)
		}
		if slices.Contains(ten, target) {
			tried, failed, ran = tried+execs, failed+crashers, ran+1
		}
	}
	t.Logf("F1 cases=%d undetected=%d lost=0 targets=%d", tried, failed, ran)
}
