package faults

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// TestFaultC3 converts within limits on file size, open files and address space.
func TestFaultC3(t *testing.T) {
	slow(t)
	t.Parallel()
	need.Tools(t, "prlimit")
	if _, err := reference(); err != nil {
		t.Fatal(err)
	}
	type limit struct {
		flag  string
		jobs  string
		exact bool // the conversion must get through
	}
	var limits []limit
	// Below the size of the plan, of an index, of a shard; just below and at a shard.
	for _, size := range []int{0, 1, 100, 512, 1000, 4096, 10_000, 100_000, 700_000, 10 << 20} {
		limits = append(limits, limit{fmt.Sprintf("--fsize=%d:%d", size, size), "-j2", size == 10<<20})
	}
	// The Go runtime dies without ten, before it can say anything of ours.
	for _, n := range []int{12, 14, 16, 18, 20, 24, 28} {
		limits = append(limits, limit{fmt.Sprintf("--nofile=%d:%d", n, n), "-j4", false})
	}
	limits = append(limits, limit{"--nofile=32:32", "-j1", true}, limit{"--nofile=32:32", "-j16", false}, limit{"--nofile=64:64", "-j3", true})
	for _, mib := range []int{256, 512, 1024, 2048, 4096} {
		limits = append(limits, limit{fmt.Sprintf("--as=%d:%d", mib<<20, mib<<20), "-j2", mib >= 2048})
	}
	var refused, started atomic.Int64
	sum := each(t, spread(len(limits), len(limits)), func(i int, dir string) error {
		l, out := limits[i], filepath.Join(dir, "out")
		if strings.HasPrefix(l.flag, "--as") { // the Go runtime itself needs some: not ours to report
			r, err := execute("prlimit", l.flag, program(), "version")
			if err != nil {
				return err
			}
			if r.code != 0 {
				return again(out)
			}
		}
		started.Add(1)
		r, err := execute("prlimit", append([]string{l.flag, program()}, convert(out, l.jobs)...)...)
		if err == nil && r.code == 0 {
			err = identical(out)
		} else if err == nil {
			refused.Add(1)
			if err = r.clean(4); err == nil && l.exact {
				err = fmt.Errorf("%v; want it to succeed, slower if need be", r)
			}
			if err == nil {
				err = half(out)
			}
		}
		if err == nil {
			err = again(out)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", l.flag, l.jobs, err)
		}
		return nil
	})
	t.Logf("C3 [cold] %v", fewFiles(t))
	t.Logf("C3 %v started=%d refused=%d", sum, started.Load(), refused.Load())
}
