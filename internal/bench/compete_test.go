//go:build bench && linux

package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A contender turns the files of a directory into an output.
type contender func(t *testing.T, set, out string) process

// durableCopy is cp of the same bytes, then fsync of every copy and of the directory.
func durableCopy(t *testing.T, set, out string) process {
	return execute(t, "sh", "-c", `cp -r --reflink=never "$1" "$2" && sync "$2"/* "$2"`, "sh", set, out)
}

// durableTree is cp of a tree of many files, then one sync of the file system: what a
// person would do, and much faster than an fsync of each.
func durableTree(t *testing.T, set, out string) process {
	return execute(t, "sh", "-c", `cp -r --reflink=never "$1" "$2" && sync -f "$2"`, "sh", set, out)
}

// convert returns the conversion of a format with some flags.
func convert(format string, flags ...string) contender {
	return func(t *testing.T, set, out string) process {
		return finish(t, conversion(format, set, out, flags...), false)
	}
}

// onTwoCores is convert where no more than two processors may be used.
func onTwoCores(format string, flags ...string) contender {
	return func(t *testing.T, set, out string) process {
		cmd := conversion(format, set, out, flags...)
		cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
		return finish(t, cmd, false)
	}
}

func conversion(format, set, out string, flags ...string) *exec.Cmd {
	return exec.Command(program, append([]string{format, set, out, "--progress", "none"}, flags...)...)
}

// compete measures contenders round by round, each as the first in turn. All start with an
// idle device, no output of another, and inputs that before has made warm or cold.
func compete(t *testing.T, before func(*testing.T, []string), set string, rounds int, contenders ...contender) []runs {
	t.Helper()
	inputs := filesUnder(t, set)
	out := filepath.Join(work, "out")
	all := make([]runs, len(contenders))
	inTurn(rounds, len(contenders), func(i int) {
		settle(t, out)
		before(t, inputs)
		all[i] = append(all[i], contenders[i](t, set, out))
	})
	settle(t, out)
	return all
}

// outputSize is how many bytes a conversion writes.
func outputSize(t *testing.T, set string, convert contender) int64 {
	t.Helper()
	out := filepath.Join(work, "out")
	settle(t, out)
	convert(t, set, out)
	n := sizeOf(t, filesUnder(t, out))
	settle(t, out)
	return n
}

// inTurn calls do for each of n in every round, another one first each time.
func inTurn(rounds, n int, do func(i int)) {
	for round := range rounds {
		for i := range n {
			do((i + round) % n)
		}
	}
}
