//go:build bench && linux

package bench

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/python"
)

// pythonEpoch goes through an epoch in random order by PyTorch, batches of 128. A sample becomes its size in the worker that
// has read it, so that reading is what is measured. It prints how many there were, and the seconds without those of its imports.
const pythonEpoch = `
import os, sys, time
package, kind, path, workers = sys.argv[1:]
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
    make, dataset = DataLoader, Dataset(path, check_data=kind == "verified", decode=None, transform=len)
loader = make(dataset, batch_size=128, shuffle=True, num_workers=int(workers), collate_fn=list)
start = time.perf_counter()
samples = sum(len(batch) for batch in loader)
print([samples, time.perf_counter() - start])
`

// TestT2 reads an epoch by PyTorch's DataLoader with two workers: shards by the Python package, and the files that they were made of. Beside
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
		epoch := func(kind, path string) float64 {
			t.Helper()
			p := finish(t, exec.Command(python.Path(t, "torch", "numpy"), "-c", pythonEpoch, py, kind, path, "2"), false)
			var got [2]float64
			if err := json.Unmarshal(p.stdout, &got); err != nil || int(got[0]) != len(all) {
				t.Fatalf("%s: %v: %s, want %d samples", kind, err, p.stdout, len(all))
			}
			return got[0] / got[1]
		}
		for _, how := range []struct {
			name   string
			before func(*testing.T, []string)
		}{{"cold", chill}, {"in the page cache", warm}} {
			var verified, plain, single, device series
			inTurn(slowRounds, 4, func(i int) {
				switch i {
				case 0:
					how.before(t, shards)
					verified = append(verified, epoch("verified", out))
				case 1:
					how.before(t, shards)
					plain = append(plain, epoch("plain", out))
				case 2:
					how.before(t, all)
					single = append(single, epoch("files", set))
				case 3:
					how.before(t, shards)
					device = append(device, readBatches(t, out, 128, int64(len(all)/128)).PerSecond)
				}
			})
			perSecond := unit{"%.0f", " samples/s", 1}
			what := fmt.Sprintf("%d samples of 100 KB in random batches of 128 by the Python package's DataLoader, two workers, %s", len(all), how.name)
			for _, f := range []struct {
				checked string
				ours    series
			}{{", verified", verified}, {", CRCs not compared", plain}} {
				record(figure{work: what + f.checked, against: "torch's DataLoader over the files", value: f.ours.over(single), unit: ratio, ours: perSecond.all(f.ours), theirs: perSecond.all(single)})
			}
			record(figure{work: what + ", verified", against: "`bench read`, which hands nothing to Python", value: verified.over(device), unit: ratio, ours: perSecond.all(verified), theirs: perSecond.all(device)})
		}
		settle(t, out)
	})
}
