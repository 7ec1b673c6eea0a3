//go:build bench && linux

package bench

import (
	"fmt"
	"path/filepath"
	"testing"
)

// mostOfCopy is what a durable conversion may take of the time of a durable copy.
const mostOfCopy = 1.5

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
		return execute(t, program, append([]string{format, set, out, "--progress", "none"}, flags...)...)
	}
}

// compete measures contenders round by round, each as the first in turn. All start with
// warm inputs, an idle device, and no output of another.
func compete(t *testing.T, set string, contenders ...contender) []series {
	t.Helper()
	inputs := filesUnder(t, set)
	out := filepath.Join(work, "out")
	seconds := make([]series, len(contenders))
	for round := range rounds {
		for i := range contenders {
			i = (i + round) % len(contenders)
			settle(t, out)
			warm(t, inputs)
			seconds[i] = append(seconds[i], contenders[i](t, set, out).seconds)
		}
	}
	settle(t, out)
	return seconds
}

func TestConvert(t *testing.T) {
	set := setOf(t, photos)
	size := sizeOf(t, glob(t, set, "*.tar"))
	s := compete(t, set, durableCopy, convert("tar", "--no-verify"), convert("tar"))
	copied := s[0]
	ratio := s[1].over(copied)
	report(t, row{"durable conversion ÷ cp + fsync", ratio.String(), fmt.Sprintf("≤ %.1f", mostOfCopy), rate(size, s[1]), rate(size, copied)})
	if ratio.median() > mostOfCopy {
		t.Errorf("a durable conversion takes %v of the time of a durable copy; want %.1f at the most", ratio, mostOfCopy)
	}
	report(t, row{"the same with verification ÷ cp + fsync", s[2].over(copied).String(), "", rate(size, s[2]), rate(size, copied)})
}
