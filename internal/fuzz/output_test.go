package fuzz

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	execsOf       = regexp.MustCompile(`execs: (\d+)`)
	interestingOf = regexp.MustCompile(`new interesting: (\d+)`)
)

// last is the number that the last match of re in out has, 0 where there is none.
func last(out []byte, re *regexp.Regexp) int {
	all := re.FindAllSubmatch(out, -1)
	if len(all) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(string(all[len(all)-1][1]))
	return n
}

// onlyTheDeadline reports whether a run failed for nothing but that its time was up: up to
// Go 1.26 the coordinator takes its own deadline for a failure where it sees it before
// its workers do. No input is written then.
func onlyTheDeadline(out string) bool {
	_, failure, ok := strings.Cut(out, "--- FAIL: ")
	lines := strings.Split(strings.TrimSpace(failure), "\n")
	return ok && len(lines) > 1 && strings.TrimSpace(lines[1]) == "context deadline exceeded" && !strings.Contains(out, "Failing input written")
}

// What the go command prints is told apart.
func TestOutput(t *testing.T) {
	t.Parallel()
	const begin = "fuzz: elapsed: 0s, gathering baseline coverage: 0/3 completed\nfuzz: elapsed: 3s, execs: 120 (40/sec), new interesting: 2 (total: 5)\nfuzz: elapsed: 6s, execs: 1300 (390/sec), new interesting: 7 (total: 10)\n"
	for _, row := range []struct {
		name, end string
		deadline  bool
	}{
		{"sound", "PASS\nok  \tx\t6.1s\n", false},
		{"deadline", "--- FAIL: FuzzX (6.01s)\n    context deadline exceeded\nFAIL\nexit status 1\n", true},
		{"finding", "--- FAIL: FuzzX (6.01s)\n    --- FAIL: FuzzX (0.00s)\n        x_test.go:9: context deadline exceeded\n    \n    Failing input written to testdata/fuzz/FuzzX/1\n", false},
		{"finding at the deadline", "--- FAIL: FuzzX (6.01s)\n    context deadline exceeded\n    Failing input written to testdata/fuzz/FuzzX/1\n", false},
		{"hung", "--- FAIL: FuzzX (6.01s)\n    fuzzing process hung or terminated unexpectedly: exit status 2\n", false},
		{"no build", "x_test.go:1:1: syntax error\nFAIL\n", false},
	} {
		if got := onlyTheDeadline(begin + row.end); got != row.deadline {
			t.Errorf("%s: %t", row.name, got)
		}
	}
	if n, m := last([]byte(begin), execsOf), last([]byte(begin), interestingOf); n != 1300 || m != 7 || last(nil, execsOf) != 0 {
		t.Errorf("%d execs, %d interesting", n, m)
	}
}
