//go:build bench && linux

package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/python"
)

// pythonEpoch goes through an epoch in random order by PyTorch, batches of 128. A sample becomes its size in the worker that
// has read it, so that reading is what is measured. It prints how many there were, and the seconds without those of its imports.
const pythonEpoch = `
import functools, os, sys, time
package, kind, path, workers, number = sys.argv[1:]
sys.path.insert(0, package)
import torch.utils.data
from ffconvert import DataLoader, Dataset

class Files(torch.utils.data.Dataset):
    def __init__(self, root):
        self.paths = sorted(os.path.join(d, name) for d, _, names in os.walk(root) for name in names)
    def __len__(self):
        return len(self.paths)
    def __getitem__(self, i):
        with open(self.paths[i], "rb") as f:
            return len(f.read())

if kind == "files":
    make, dataset = torch.utils.data.DataLoader, Files(path)
else:
    make, dataset = functools.partial(DataLoader, workers=workers), Dataset(path, check_data=kind == "verified", encoding=None, transform=len)
loader = make(dataset, batch_size=128, shuffle=True, num_workers=int(number), collate_fn=list)
start = time.perf_counter()
samples = sum(len(batch) for batch in loader)
print([samples, time.perf_counter() - start])
`

// TestT2 reads an epoch by PyTorch's DataLoader with two workers: shards by the Python package and its native helper, and the files that they were made of. Beside
// them is what Linux AIO reads of the shards, the most that a process that reads for Python could hand over.
func TestT2(t *testing.T) {
	measure(t, "T2", func(record func(figure)) {
		set, out := setOf(t, files), filepath.Join(work, "out")
		settle(t, out)
		convert("folder", "--no-verify")(t, set, out)
		shards, all := glob(t, out, "*.ffr"), filesUnder(t, set)
		py, err := filepath.Abs(filepath.Join("..", "..", "python"))
		if err != nil {
			t.Fatal(err)
		}
		native := filepath.Join(t.TempDir(), "libffconvert.so")
		if out, err := exec.Command(filepath.Join(py, "native", "build.sh"), "linux-"+runtime.GOARCH, native).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		epoch := func(kind, path, workers string) float64 {
			t.Helper()
			cmd := exec.Command(python.Path(t, "torch", "numpy"), "-c", pythonEpoch, py, kind, path, workers, "2")
			cmd.Env = append(os.Environ(), "FFCONVERT_NATIVE="+native)
			p := finish(t, cmd, false)
			var got [2]float64
			if err := json.Unmarshal(p.stdout, &got); err != nil || int(got[0]) != len(all) {
				t.Fatalf("%s: %v: %s, want %d samples", kind, err, p.stdout, len(all))
			}
			return got[0] / got[1]
		}
		for _, how := range []struct {
			name   string
			before func(*testing.T, []string)
			least  float64
		}{{"cold", chill, 2}, {"in the page cache", warm, 1}} {
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
			perSecond := unit{"%.0f", " samples/s", 1}
			what := fmt.Sprintf("%d samples of 100 KB in random batches of 128 by the Python package's DataLoader, two %%s, %s, %%s", len(all), how.name)
			for _, f := range []struct {
				workers, checked string
				ours             series
				target           target
			}{{"threads", "verified", threads, atLeast(how.least)}, {"processes", "verified", processes, target{}}, {"threads", "CRCs not compared", plain, target{}}} {
				record(figure{work: fmt.Sprintf(what, f.workers, f.checked), against: "torch's DataLoader over the files, two processes", value: f.ours.over(single), unit: ratio, target: f.target,
					ours: perSecond.all(f.ours), theirs: perSecond.all(single)})
			}
			atLeastOf := target{}
			if how.name != "cold" {
				atLeastOf = atLeast(0.6)
			}
			record(figure{work: fmt.Sprintf(what, "threads", "verified"), against: "`bench read`, which hands nothing to Python", value: threads.over(device), unit: ratio, target: atLeastOf,
				ours: perSecond.all(threads), theirs: perSecond.all(device)})
		}
		settle(t, out)
	})
}
