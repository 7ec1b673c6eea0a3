//go:build bench && linux

package bench

import (
	"fmt"
	"path/filepath"
	"testing"
)

const (
	mostMemory   = 256 << 20 // bytes of anonymous memory, whatever the dataset
	mostGrowth   = 1.10      // of it when the dataset is four times as large,
	growthMargin = 16 << 20  // and this much for the garbage collector's mood
)

// TestMemory converts with verification and watches the memory of the process.
func TestMemory(t *testing.T) {
	set := setOf(t, photos)
	out := filepath.Join(work, "out")
	measure := func(set string, times int, jobs string) int64 {
		settle(t, out)
		p := watch(t, "tar", set, out, "--progress", "none", "--jobs", jobs)
		report(t, row{fmt.Sprintf("memory at %.3g GiB, --jobs %s", gib(int64(times)*volume), jobs), mib(p.anon), "≤ " + mib(mostMemory),
			"with file pages " + mib(p.peak), ""})
		if p.anon > mostMemory {
			t.Errorf("%d × the set with --jobs %s took %s; want %s at the most", times, jobs, mib(p.anon), mib(mostMemory))
		}
		return p.anon
	}
	once := measure(set, 1, "2")
	if !large {
		t.Log("there is no room to measure four times the set")
		settle(t, out)
		return
	}
	set = multiply(t, set, 4)
	four := measure(set, 4, "2")
	limit := int64(mostGrowth*float64(once)) + growthMargin
	report(t, row{"memory growth for 4 × the bytes", fmt.Sprintf("%+.1f MiB", float64(four-once)/(1<<20)), "≤ " + mib(limit-once), "", ""})
	if four > limit {
		t.Errorf("four times the set took %s instead of %s; want %s at the most", mib(four), mib(once), mib(limit))
	}
	measure(set, 4, "16")
	settle(t, out)
}

// TestPlanMemory plans samples that are hardly more than an entry of the plan.
func TestPlanMemory(t *testing.T) {
	set := setOf(t, crumbs)
	dryRun := func(set string) int64 {
		return watch(t, "tar", set, filepath.Join(work, "none"), "--dry-run", "--progress", "none", "--jobs", "1").anon
	}
	once := dryRun(set)
	four := dryRun(multiply(t, set, 4))
	more := float64(four-once) / float64(3*crumbSamples())
	report(t, row{"memory of a plan, of each further sample", fmt.Sprintf("%.0f bytes", more), "",
		fmt.Sprintf("%s at %d samples, %s at four times as many", mib(once), crumbSamples(), mib(four)), "16 bytes are held"})
}

func mib(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
