package python_test

import (
	"encoding/json"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/python"
	"github.com/ffconvert/ffconvert/loader"
)

// goOn goes on in Python after a state of the Go loader, and prints what Go is to go on with.
const goOn = `
import json, sys, zlib
from ffconvert import BatchSampler, Dataset
data = Dataset(sys.argv[1], encoding=None)
sampler = BatchSampler(data, 12, rank=1, world=2, seed=7, mode=sys.argv[3], ends="short")
sampler.load_state_dict(json.loads(sys.argv[2]))
batches = [{"Indices": i, "Sums": [zlib.crc32(b) for b in data[i]]} for i in sampler]
print(json.dumps({"Batches": batches, "State": sampler.state_dict()}))
`

// A run that begins in Go goes on in Python: with the same samples, to the same state.
func TestGoesOnInPython(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	tars, err := filepath.Glob("../testdata/shards-*.tar")
	if err != nil || len(tars) == 0 {
		t.Fatal(tars, err)
	}
	convert := exec.Command(need.Program(t), append(append([]string{"tar", "--progress", "none", "--shards", "5"}, tars...), out)...)
	if text, err := convert.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, mode := range []loader.Mode{loader.Window(50), loader.Interleave(3)} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			goesOn(t, out, mode)
		})
	}
}

// goesOn reads an epoch in Go, and in Python from the state after its first batch on.
func goesOn(t *testing.T, out string, mode loader.Mode) {
	opts := loader.Order{Seed: 7, Batch: 24, Mode: mode, Ends: loader.Short}
	l, err := loader.Open([]string{out}, loader.Options{Order: opts, Rank: 1, World: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	type batch struct {
		Indices []int64
		Sums    []uint32
	}
	var want, got struct {
		Batches []batch
		State   loader.State
	}
	var middle []byte
	for b, err := range l.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		want.State = b.State
		if middle == nil {
			if middle, err = json.Marshal(b.State); err != nil {
				t.Fatal(err)
			}
			continue
		}
		one := batch{Indices: append([]int64{}, b.Indices...)}
		for i := range b.Len() {
			one.Sums = append(one.Sums, crc32.ChecksumIEEE(b.Sample(i)))
		}
		want.Batches = append(want.Batches, one)
	}
	cmd := exec.Command(python.Path(t), "-c", goOn, out, string(middle), string(mode))
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=.")
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(got)
	if len(want.Batches) != 4 || string(a) != string(b) {
		t.Errorf("Python goes on with\n%s\nwant\n%s", b, a)
	}
}
