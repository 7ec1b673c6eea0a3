//go:build bench && linux

package bench

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestIndex measures what finding samples costs, and what each of them costs beside its
// bytes.
func TestIndex(t *testing.T) {
	set := setOf(t, crumbs)
	tars := glob(t, set, "*.tar")
	size := sizeOf(t, tars)
	plan := convert("tar", "--dry-run")
	var warmed series
	for range rounds {
		warm(t, tars)
		warmed = append(warmed, plan(t, set, filepath.Join(work, "none")).seconds)
	}
	members := float64(crumbSamples())
	report(t, row{fmt.Sprintf("index of %.0f members of 100 bytes, warm", members), fmt.Sprintf("%.0f members/s", members/warmed.median()), "", rate(size, warmed), ""})

	s := compete(t, set, durableCopy, convert("tar", "--no-verify"))
	report(t, row{"conversion of the same ÷ cp + fsync", s[1].over(s[0]).String(), "",
		fmt.Sprintf("%s, %.1f µs a sample", rate(size, s[1]), s[1].median()/members*1e6), rate(size, s[0])})
}

// TestColdIndex measures the pass over the headers when they are on the device alone.
func TestColdIndex(t *testing.T) {
	set := setOf(t, photos)
	tars := glob(t, set, "*.tar")
	var seconds series
	for range rounds {
		chill(t, tars)
		seconds = append(seconds, convert("tar", "--dry-run")(t, set, filepath.Join(work, "none")).seconds)
	}
	report(t, row{fmt.Sprintf("index of the %.3g GiB set, cold", gib(volume)), fmt.Sprintf("%.2f s", seconds.median()), "", rate(sizeOf(t, tars), seconds), ""})
}
