package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// filterArgs is a conversion of tars whose samples pass through a program that changes none.
func filterArgs(out string) []string { return convert(out, "-j2", "--filter", `sh -c "exec cat"`) }

// A conversion whose filter is killed is refused, one that is killed itself leaves no process of the filter, and the same
// command makes the dataset that it would have been.
func TestKilledFilters(t *testing.T) {
	slow(t)
	t.Parallel()
	ref := filepath.Join(base, "reference-filter")
	want, err := referenceOf(ref, filterArgs(ref))
	if err != nil {
		t.Fatal(err)
	}
	takes := typicalOf(t, filterArgs)
	for _, victim := range []string{"the filter", "ffconvert"} {
		n := cases(100, 8)
		var killed, refused atomic.Int64
		sum := each(t, spread(n, n), func(i int, dir string) error {
			out, mark := filepath.Join(dir, "out"), "FFCONVERT_TEST_MARK="+dir
			cmd, cancel := command(program(), filterArgs(out)...)
			defer cancel()
			cmd.Env = append(os.Environ(), mark)
			r, err := finish(cmd, cmd.Start, func(began time.Time) {
				time.Sleep(time.Until(began.Add(takes * time.Duration(i) / time.Duration(n))))
				if victim == "ffconvert" {
					cmd.Process.Kill()
					killed.Add(1)
					return
				}
				for pid, line := range marked(mark) {
					if strings.HasPrefix(line, "cat") && syscall.Kill(pid, syscall.SIGKILL) == nil {
						killed.Add(1)
					}
				}
			})
			if err != nil {
				return err
			}
			switch {
			case victim == "ffconvert":
			case r.code == 3 && strings.Contains(r.stderr, "signal: killed"):
				refused.Add(1)
			case r.code != 0:
				return fmt.Errorf("%v", r)
			}
			if !soon(5*time.Second, func() bool { return len(marked(mark)) == 0 }) {
				return fmt.Errorf("they run on: %v", marked(mark))
			}
			if _, err := os.Stat(out); err == nil {
				if err := sound(out, want); err != nil {
					return err
				}
			}
			return complete(out, want, filterArgs(out))
		})
		t.Logf("[%s] %v killed=%d refused=%d", victim, sum, killed.Load(), refused.Load())
	}
}
