//go:build bench && linux

package bench

import (
	"fmt"
	"testing"
)

// TestS11 converts ever more of the same: a GiB must not cost more for it.
func TestS11(t *testing.T) {
	measure(t, "S11", func(record func(figure)) {
		set := setOf(t, photos)
		bytes := float64(sizeOf(t, filesUnder(t, set)))
		var sizes []int
		var short string
		var contenders []contender
		for _, times := range []int{1, 4, 16} {
			if short = roomFor(t, times); short != "" {
				break
			}
			larger := multiply(t, set, times)
			sizes = append(sizes, times)
			contenders = append(contenders, func(t *testing.T, _, out string) process {
				return convert("tar", "--no-verify")(t, larger, out)
			})
		}
		all := compete(t, warm, set, longRounds, contenders...)
		// a GiB's share of what a run took
		share := func(i int, took series) series {
			return took.each(func(x float64) float64 { return x / (float64(sizes[i]) * bytes / (1 << 30)) })
		}
		for i, times := range sizes {
			at := fmt.Sprintf(", S1 %d ×", times)
			record(figure{work: "wall time" + at, value: share(i, all[i].seconds()), unit: per("GiB"), ours: pace(int64(times)*int64(bytes), all[i].seconds())})
			record(figure{work: "user and system time" + at, value: share(i, all[i].cpu()), unit: per("GiB"), ours: seconds.all(all[i].cpu())})
		}
		last := len(sizes) - 1
		for _, m := range []struct {
			what string
			of   func(runs) series
		}{{"wall time", runs.seconds}, {"user and system time", runs.cpu}} {
			f := figure{work: m.what + " a GiB, S1 16 ×", against: "S1 once", unit: ratio, target: atMost(1.1), leftOut: short}
			if short == "" {
				most, once := share(last, m.of(all[last])), share(0, m.of(all[0]))
				f.value, f.ours, f.theirs = most.over(once), per("GiB").all(most), per("GiB").all(once)
			}
			record(f)
		}
	})
}
