//go:build bench && linux

package bench

import (
	"fmt"
	"os"
	"slices"
	"testing"
)

// A limit is how fio moves the bytes of a conversion: it reads as many as the sources have and writes as many as
// the output has, both at the same time. Where the inputs are in the page cache it writes only.
type limit struct{ read, write fioJob }

func (l limit) String() string {
	writing := "writing " + l.write.String()
	if l.read.jobs == 0 {
		return writing
	}
	return "reading " + l.read.String() + ", " + writing
}

// run moves so many bytes. Read are the tars of the main set, whatever the row: large files, so that no open is in it.
func (l limit) run(t *testing.T, in, out int64, dir string) process {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	jobs := l.write.writes(dir, out)
	if l.read.jobs > 0 {
		jobs = append(l.read.reads(glob(t, setOf(t, photos), "*.tar"), in), jobs...)
	} else {
		in = 0
	}
	did := fio(t, jobs...)
	moved(t, l.String(), did.read, in)
	moved(t, l.String(), did.written, out)
	return process{seconds: did.seconds}
}

// contender is the limit as one of those that are measured in turn.
func (l limit) contender(in, out int64) contender {
	return func(t *testing.T, _, dir string) process { return l.run(t, in, out, dir) }
}

// mixedLimit is the fastest of some ways to read and write the main set.
var mixedLimit = shared(func(t *testing.T) limit {
	return fastest(t, chill, []limit{
		{fioJob{"read", "512K", 16, 1}, fioJob{"write", "1M", 8, 1}},
		{fioJob{"read", "1M", 8, 2}, fioJob{"write", "1M", 8, 2}},
		{fioJob{"read", "1M", 8, 4}, fioJob{"write", "1M", 8, 4}},
	})
})

// writeLimit is the fastest of some ways to write as many bytes.
var writeLimit = shared(func(t *testing.T) limit {
	return fastest(t, warm, []limit{
		{write: fioJob{"write", "1M", 8, 1}},
		{write: fioJob{"write", "1M", 8, 2}},
		{write: fioJob{"write", "4M", 4, 2}},
	})
})

// fastest tries each way twice, in turn, and returns the one whose median is least.
func fastest(t *testing.T, before func(*testing.T, []string), ways []limit) limit {
	t.Helper()
	set := setOf(t, photos)
	bytes := sizeOf(t, filesUnder(t, set))
	contenders := make([]contender, len(ways))
	for i, way := range ways {
		contenders[i] = way.contender(bytes, bytes)
	}
	all := compete(t, before, set, 2, contenders...)
	took := make(series, len(ways))
	for i, way := range ways {
		took[i] = all[i].seconds().median()
		t.Logf("fio %v: %s", way, seconds.all(all[i].seconds()))
	}
	return ways[slices.Index(took, slices.Min(took))]
}

// beside says how long the limit took, and which part of it ours reached.
func (l limit) beside(ours, fio series) string {
	return fmt.Sprintf("%s of fio's %s", ratio.all(fio.over(ours)), seconds.all(fio))
}

// shared keeps what rows are taken from: the first to ask has it measured.
func shared[T any](measure func(t *testing.T) T) func(t *testing.T) T {
	var have bool
	var got T
	return func(t *testing.T) T {
		t.Helper()
		if !have {
			got, have = measure(t), true
		}
		return got
	}
}
