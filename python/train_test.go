package python_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// What examples/train.py does with the 120 samples of testdata/shards-*.tar.
const (
	epochs     = 3
	epochSteps = 15
	stepSize   = 8 // samples of a step, on all ranks together
)

// A history has the samples of each step, which runs of examples/train.py have printed.
type history [epochs * epochSteps][]string

// add adds what a run of world ranks has printed, and returns its first step and the last step of rank 0. Of the steps from its first one on it
// forgets what earlier runs have printed: they were killed before they saved these.
func (h *history) add(t *testing.T, world int, lines []string) (first, last int) {
	t.Helper()
	type part struct {
		step, rank int
		keys       []string
	}
	var parts []part
	first = len(h)
	for _, line := range lines {
		var epoch, position, rank int
		_, err := fmt.Sscan(line, &epoch, &position, &rank)
		p := part{epoch*epochSteps + position/stepSize - 1, rank, strings.Fields(line)[3:]}
		if err != nil || p.step < 0 || p.step >= len(h) || len(p.keys) != share(rank+1, world)-share(rank, world) {
			t.Fatalf("one of %d ranks has printed %q: %v", world, line, err)
		}
		parts, first = append(parts, p), min(first, p.step)
		if rank == 0 {
			last = p.step
		}
	}
	clear(h[first:])
	for _, p := range parts {
		if h[p.step] == nil {
			h[p.step] = make([]string, stepSize)
		}
		copy(h[p.step][share(p.rank, world):], p.keys)
	}
	return first, last
}

// share returns where the samples of a rank begin in a step: docs/order.md.
func share(rank, world int) int { return rank * stepSize / world }

// train runs a command and returns the lines that it prints. If kill is not 0, SIGKILL ends all its processes soon after rank 0 has printed
// so many steps.
func (v *venv) train(t *testing.T, line string, kill int) []string {
	t.Helper()
	cmd := v.command(t, line)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	steps := 0
	for s := bufio.NewScanner(stdout); s.Scan(); {
		lines = append(lines, s.Text())
		if f := strings.Fields(s.Text()); len(f) > 2 && f[2] == "0" {
			if steps++; steps == kill {
				time.Sleep(rand.N(5 * time.Millisecond))
				cmd.Cancel()
			}
		}
	}
	if err := cmd.Wait(); kill == 0 && err != nil || kill > 0 && (err == nil || err.Error() != "signal: killed") {
		t.Fatalf("%s, to be killed after %d steps: %v\n%s", line, kill, err, &stderr)
	}
	return lines
}

// sameWeights compares the checkpoints of three runs: uninterrupted, killed, and killed on several ranks. Ranks add floating-point numbers in another
// order, so that the weights of the last are only close.
const sameWeights = `
import torch
whole, killed, ranks = (torch.load(name + "/checkpoint.pt") for name in ("whole", "killed", "ranks"))
for name, want in whole["model"].items():
    assert torch.equal(killed["model"][name], want), name
    assert torch.allclose(ranks["model"][name], want, rtol=1e-3, atol=1e-5), (name, ranks["model"][name] - want)
assert whole["loader"] == killed["loader"] == ranks["loader"], (whole, killed, ranks)
assert want.abs().sum() > 0.01
`

// testTraining kills runs at random steps and resumes them, on other numbers of ranks too. Their steps and final weights are those of an
// uninterrupted run. single, four and three are commands as the page has them; each history of runs has a directory of its own.
func testTraining(t *testing.T, v *venv, single, four, three string) {
	t.Helper()
	var want history
	want.add(t, 1, v.at(t, "whole", "out", "examples").train(t, single, 0))
	for epoch := range slices.Chunk(want[:], epochSteps) {
		all := slices.Concat(epoch...)
		slices.Sort(all)
		if n := len(slices.Compact(all)); n != epochSteps*stepSize {
			t.Errorf("an epoch has %d samples", n)
		}
	}
	ranks := map[string]int{single: 1, four: 4, three: 3}
	for name, runs := range map[string][]string{"killed": {single, single, single}, "ranks": {four, three, single}} {
		var got history
		dir := v.at(t, name, "out", "examples")
		before := -1
		for i, line := range runs {
			kill := 0
			if i < len(runs)-1 {
				kill = 1 + rand.IntN(epochSteps-1)
			}
			t.Logf("%s: %d ranks, killed after %d steps", name, ranks[line], kill)
			first, last := got.add(t, ranks[line], dir.train(t, line, kill))
			if first != before+1 && (first != before || i == 0) {
				t.Errorf("step %d was the last of rank 0, and %d is the first", before, first)
			}
			before = last
		}
		for step := range want {
			if !slices.Equal(got[step], want[step]) {
				t.Errorf("%s: step %d has the samples %q, want %q", name, step, got[step], want[step])
			}
		}
	}
	v.write(t, "weights.py", sameWeights)
	v.run(t, "python3 weights.py")
}
