package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killable is a filter that changes no sample. With $KILL_AT it kills itself after that number of bytes.
const killable = "#!/bin/sh\n" + `[ "$KILL_AT" ] || exec cat; head -c "$KILL_AT"; kill -9 $$` + "\n"

func killableName() string { return filepath.Join(base, "killable") }

// filterArgs is a conversion of tars whose samples pass through killable.
func filterArgs(out string) []string {
	return convert(out, "-j2", "--shuffle", "--filter", killableName())
}

// wholeFilterArgs is the same with part-aligned shards: the filter runs while shards are written.
func wholeFilterArgs(out string) []string {
	return convert(out, "-j2", "--whole-parts", "--filter", killableName())
}

// A conversion whose filter is killed is refused, one that is killed itself leaves no process of the filter, and the same
// command makes the dataset that it would have been.
func TestKilledFilters(t *testing.T) {
	slow(t)
	t.Parallel()
	if err := os.WriteFile(killableName(), []byte(killable), 0o755); err != nil {
		t.Fatal(err)
	}
	given := int64(0) // at least what all processes are given
	for _, name := range sources {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		given += info.Size()
	}
	for _, row := range []struct {
		name string
		args func(out string) []string
	}{{"exact", filterArgs}, {"whole", wholeFilterArgs}} {
		ref := filepath.Join(base, "reference-filter-"+row.name)
		want, err := referenceOf(ref, row.args(ref))
		if err != nil {
			t.Fatal(err)
		}
		takes := typicalOf(t, row.args)
		const n = 100
		for _, victim := range []string{"filter", "ffconvert"} {
			sum := each(t, spread(n, 5), func(i int, dir string) error {
				out, mark := filepath.Join(dir, "out"), "FFCONVERT_TEST_MARK="+dir
				cmd, cancel := command(program(), row.args(out)...)
				defer cancel()
				cmd.Env = append(os.Environ(), mark)
				if victim == "filter" {
					cmd.Env = append(cmd.Env, "KILL_AT="+strconv.FormatInt(1+given*int64(i)/n, 10))
				}
				r, err := finish(cmd, cmd.Start, func(began time.Time) {
					if victim == "ffconvert" {
						time.Sleep(time.Until(began.Add(takes * time.Duration(i) / n)))
						cmd.Process.Signal(syscall.SIGKILL)
					}
				})
				if err != nil {
					return err
				}
				if victim == "filter" && (r.code != 3 || !strings.Contains(r.stderr, "signal: killed")) {
					return fmt.Errorf("%v", r)
				}
				if !soon(func() bool { return len(marked(mark)) == 0 }) {
					return fmt.Errorf("they run on: %v", marked(mark))
				}
				if _, err := os.Stat(out); err == nil {
					if err := sound(out, want); err != nil {
						return err
					}
				}
				return complete(out, want, row.args(out))
			})
			t.Logf("[%s, the %s] %v", row.name, victim, sum)
		}
	}
}
