//go:build bench && linux

package bench

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestIndex measures what finding samples costs, before anything is written.
func TestIndex(t *testing.T) {
	measure(t, "Index", func(record func(figure)) {
		plan := convert("tar", "--dry-run")
		dryRun := func(set string, before func(*testing.T, []string)) series {
			tars := glob(t, set, "*.tar")
			var took series
			for range slowRounds {
				before(t, tars)
				took = append(took, plan(t, set, filepath.Join(work, "none")).seconds)
			}
			return took
		}
		set := setOf(t, crumbs)
		warmed := dryRun(set, warm)
		record(figure{work: fmt.Sprintf("index of %d members of 100 bytes, warm", crumbSamples()), value: warmed.under(float64(crumbSamples())), unit: millions("members"),
			ours: pace(sizeOf(t, glob(t, set, "*.tar")), warmed)})
		set = setOf(t, photos)
		cold := dryRun(set, chill)
		record(figure{work: fmt.Sprintf("index of the %s set, cold", size(volume)), value: cold, unit: seconds,
			ours: rate.all(cold.under(float64(sizeOf(t, glob(t, set, "*.tar")))))})
	})
}
