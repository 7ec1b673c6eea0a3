//go:build bench && linux

package bench

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// shardsOf returns a set that is the dataset made of the tars of another.
func shardsOf(name string, tars func() (string, error)) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		set, err := tars()
		if err != nil {
			return "", err
		}
		dir := filepath.Join(work, name)
		if out, err := exec.Command(program, "tar", set, dir, "--progress", "none").CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
		return dir, nil
	})
}

var photoShards = shardsOf("photo-shards", photos)

// TestR1 copies the records of the main set into shards of another size, beside a copy of the dataset.
func TestR1(t *testing.T) {
	measure(t, "R1", func(record func(figure)) {
		beside(t, record, setOf(t, photoShards), durableCopy, "ffr",
			figure{work: size(volume) + " of FFRecord shards, samples of 100 KB", against: copied, target: atMost(1)})
	})
}

// TestR2 is R1 with small samples.
func TestR2(t *testing.T) {
	measure(t, "R2", func(record func(figure)) {
		g := growth{"sample", smallCounts(), smallShardsOf, warm, durableCopy, []grown{
			{how: ", `--no-verify`", convert: convert("ffr", "--no-verify"), times: atMost(1.5)},
			{how: ", with verification", convert: convert("ffr")},
		}}
		g.grow(t, record, figure{work: "FFRecord shards of samples of 300 bytes", against: copied})
	})
}
