//go:build bench && linux

package bench

import (
	"path/filepath"
	"strings"
	"testing"
)

// exportTars is the export of a dataset to tars, durable as each is.
func exportTars(flags ...string) contender {
	return func(t *testing.T, set, out string) process {
		return execute(t, program, append([]string{"export", "tar", "--progress", "none", set, filepath.Join(out, "x-%06d.tar")}, flags...)...)
	}
}

// besideTars measures the export of shards beside a copy of the tars that they were made of, which are as many bytes
// as the export writes.
func besideTars(t *testing.T, record func(figure), shards, tars func() (string, error), f figure) {
	t.Helper()
	set, from := setOf(t, shards), setOf(t, tars)
	copying := func(t *testing.T, _, out string) process { return durableCopy(t, from, out) }
	both := func(t *testing.T, files []string) { warm(t, append(filesUnder(t, from), files...)) }
	all := compete(t, both, set, rounds, copying, exportTars("--no-verify"), exportTars())
	bytes := sizeOf(t, filesUnder(t, from))
	f.unit, f.against = ratio, copiedTars
	f.theirs = pace(bytes, all[0].seconds())
	for i, how := range []string{", `--no-verify`", ", with verification"} {
		g := f
		g.work += how
		took := all[i+1].seconds()
		g.value, g.ours = took.over(all[0].seconds()), pace(bytes, took)
		if i > 0 {
			g.target = target{}
		}
		record(g)
	}
	record(figure{work: f.work + ": memory, anonymous", value: exportMemory(t, set), unit: memory, target: atMost(256 << 20)})
}

const copiedTars = "`cp -r`, then `sync` of the tars that the shards were made of"

// exportMemory is the most anonymous memory of an export to tars, in bytes.
func exportMemory(t *testing.T, set string) series {
	t.Helper()
	defer settle(t, filepath.Join(work, "out"))
	return runs{watch(t, "export", "tar", "--progress", "none", set, filepath.Join(work, "out", "x-%06d.tar"))}.each(func(p process) float64 { return float64(p.anon) })
}

// TestX1 exports the main set to tars.
func TestX1(t *testing.T) {
	measure(t, "X1", func(record func(figure)) {
		besideTars(t, record, photoShards, photos, figure{work: size(volume) + " of FFRecord shards, samples of 100 KB, to tars", target: atMost(1)})
	})
}

// TestX2 exports small samples to tars: three times as many bytes are written as are read.
func TestX2(t *testing.T) {
	measure(t, "X2", func(record func(figure)) {
		copying := func(t *testing.T, set, out string) process {
			tars := strings.Replace(set, "small-shards-", "smalls-", 1)
			warm(t, filesUnder(t, tars))
			return durableCopy(t, tars, out)
		}
		g := growth{"sample", smallCounts(), smallShardsOf, warm, copying, []grown{
			{how: ", `--no-verify`", convert: exportTars("--no-verify"), times: atMost(1.5)},
			{how: ", with verification", convert: exportTars()},
		}}
		g.grow(t, record, figure{work: "FFRecord shards of samples of 300 bytes, to tars", against: copiedTars})
		set := setOf(t, func() (string, error) { return smallShardsOf(g.counts[1]) })
		record(figure{work: "FFRecord shards of samples of 300 bytes, to tars: memory, anonymous", value: exportMemory(t, set), unit: memory, target: atMost(256 << 20)})
	})
}
