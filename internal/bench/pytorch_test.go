//go:build bench && linux

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// TestT2 reads epochs by PyTorch's DataLoader with two workers: shards by the Python package and its native helper, and the files that they were made of. Beside
// them is what Linux AIO reads of the shards, the most that a process that reads for Python could hand over.
func TestT2(t *testing.T) {
	measure(t, "T2", func(record func(figure)) {
		set, out := setOf(t, files), filepath.Join(work, "out")
		settle(t, out)
		convert("folder", "--no-verify")(t, set, out)
		shards, all := glob(t, out, "*.ffr"), filesUnder(t, set)
		py := pythonPackage(t)
		for _, how := range []struct {
			name   string
			before func(*testing.T, []string)
			epochs int
			least  float64
		}{{"cold", chill, 1, 2}, {"in the page cache", warm, 5, 1}} {
			epoch := func(kind, path, workers string) float64 {
				t.Helper()
				return py.run(t, "epoch.py", kind, path, workers, "2", strconv.Itoa(how.epochs), "bytes").perSecond(t, len(all))
			}
			var threads, processes, plain, single, device series
			inTurn(slowRounds, 5, func(i int) {
				how.before(t, [][]string{shards, shards, shards, all, shards}[i])
				switch i {
				case 0:
					threads = append(threads, epoch("verified", out, "threads"))
				case 1:
					processes = append(processes, epoch("verified", out, "processes"))
				case 2:
					plain = append(plain, epoch("plain", out, "threads"))
				case 3:
					single = append(single, epoch("files", set, ""))
				case 4:
					device = append(device, readBatches(t, out, 128, int64(len(all)/128)).PerSecond)
				}
			})
			what := fmt.Sprintf("%d samples of 100 KB in random batches of 128 by the Python package's DataLoader, two %%s, %s, %%s", len(all), how.name)
			for _, f := range []struct {
				workers, checked string
				ours             series
				target           target
			}{{"threads", "verified", threads, atLeast(how.least)}, {"processes", "verified", processes, target{}}, {"threads", "CRCs not compared", plain, target{}}} {
				record(figure{work: fmt.Sprintf(what, f.workers, f.checked), against: "torch's DataLoader over the files, two processes", value: f.ours.over(single), unit: ratio, target: f.target,
					ours: samplesPerSecond.all(f.ours), theirs: samplesPerSecond.all(single)})
			}
			atLeastOf := target{}
			if how.name != "cold" {
				atLeastOf = atLeast(0.6)
			}
			record(figure{work: fmt.Sprintf(what, "threads", "verified"), against: "`bench read`, which hands nothing to Python", value: threads.over(device), unit: ratio, target: atLeastOf,
				ours: samplesPerSecond.all(threads), theirs: samplesPerSecond.all(device)})
		}
		settle(t, out)
	})
}

// TestT3 decodes pictures to tensors in two workers, of shards and of the files that they were made of, by the same decoder.
func TestT3(t *testing.T) {
	measure(t, "T3", func(record func(figure)) {
		const n = 3000
		py := pythonPackage(t)
		set, out := filepath.Join(work, "jpegs"), filepath.Join(work, "out")
		if err := os.Mkdir(set, 0o755); err != nil {
			t.Fatal(err)
		}
		py.script(t, "pictures.py", set, strconv.Itoa(n))
		settle(t, out)
		convert("folder", "--no-verify", "--flat")(t, set, out)
		var speed, rss, pss [3]series
		inTurn(slowRounds, 3, func(i int) {
			kind, path, workers := "verified", out, []string{"threads", "processes", ""}[i]
			if workers == "" {
				kind, path = "files", set
			}
			got := py.run(t, "epoch.py", kind, path, workers, "2", "2", "tensor")
			speed[i] = append(speed[i], got.perSecond(t, n))
			rss[i], pss[i] = append(rss[i], got.RSS), append(pss[i], got.PSS)
		})
		what := fmt.Sprintf("%d JPEGs of 500 × 375 pixels in random batches of 64 tensors by the Python package's DataLoader, two %%s", n)
		for i, workers := range []string{"threads", "processes"} {
			least := []target{atLeast(1.15), {}}[i]
			record(figure{work: fmt.Sprintf(what, workers), against: "torch's DataLoader over the files, two processes, the same decoder", value: speed[i].over(speed[2]), unit: ratio,
				target: least, ours: samplesPerSecond.all(speed[i]), theirs: samplesPerSecond.all(speed[2])})
		}
		record(figure{work: fmt.Sprintf(what, "threads") + ": peak memory, RSS", against: "that with two processes, of all three", value: rss[0].over(rss[1]), unit: ratio, target: atMost(0.5),
			ours: memory.all(rss[0]), theirs: memory.all(rss[1])})
		record(figure{work: fmt.Sprintf(what, "threads") + ": memory, what is shared counted once", against: "that with two processes, of all three", value: pss[0].over(pss[1]), unit: ratio,
			ours: memory.all(pss[0]), theirs: memory.all(pss[1])})
		settle(t, out, set)
	})
}
