//go:build bench && linux

package bench

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

const mostMemory = 256 << 20 // bytes of anonymous memory, whatever the dataset

// TestS10 converts with verification and watches the memory of the process.
func TestS10(t *testing.T) {
	measure(t, "S10", func(record func(figure)) {
		var flat series
		converted := func(times int, jobs string) (anon float64, ok bool) {
			f := figure{work: fmt.Sprintf("peak anonymous memory of S2 at %s, `--jobs %s`", size(int64(times)*volume), jobs), unit: memory, target: atMost(mostMemory)}
			if f.leftOut = roomFor(t, times); f.leftOut == "" {
				p := watchFormat(t, "tar", multiply(t, setOf(t, photos), times), jobs)
				f.value, f.ours = series{float64(p.anon)}, "with file pages "+memory.one(float64(p.peak))
				anon, ok = float64(p.anon), true
			}
			record(f)
			return anon, ok
		}
		for _, times := range []int{1, 4, 16} {
			if anon, ok := converted(times, "2"); ok {
				flat = append(flat, anon)
			}
		}
		least := slices.Min(flat)
		record(figure{work: "the greatest of these less the least", value: series{slices.Max(flat) - least}, unit: memory,
			target: atMost(0.1*least + 16<<20)}) // the second for the garbage collector's mood
		converted(4, "16")
	})
}

// roomFor says why there is no room for the output of so many times the main set, and as
// much as that set beside.
func roomFor(t *testing.T, times int) string {
	t.Helper()
	short, err := shortOf(int64(times+1) * volume)
	if err != nil {
		t.Fatal(err)
	}
	return short
}

func watchFormat(t *testing.T, format, set, jobs string) process {
	t.Helper()
	out := filepath.Join(work, "out")
	settle(t, out)
	p := watch(t, format, set, out, "--progress", "none", "--jobs", jobs)
	settle(t, out)
	return p
}

// TestFormats watches the memory of the other formats. The plan is apart from the limit:
// 8 bytes a sample, and as much again until the garbage collector looks; 32 are granted.
func TestFormats(t *testing.T) {
	measure(t, "Formats", func(record func(figure)) {
		for _, f := range []struct {
			format  string
			set     func() (string, error)
			samples func(set string) int64
			jobs    string
		}{
			{"folder", files, func(set string) int64 { return int64(len(filesUnder(t, set))) }, "2"},
			{"csv", pairs, func(string) int64 { return pairRows() }, "2"},
			{"cbor", strings100, func(string) int64 { return stringCount() }, "2"},
			{"parquet", pictures, func(string) int64 { return pictureCount() }, "2"},
			{"parquet", columns10, func(string) int64 { return columns10Rows() }, "2"},
			{"parquet", columns60, func(string) int64 { return columns10Rows() / 6 }, "8"},
		} {
			set := setOf(t, f.set)
			samples := f.samples(set)
			p := watchFormat(t, f.format, set, f.jobs)
			record(figure{work: fmt.Sprintf("peak anonymous memory of %s, %d samples, `--jobs %s`", f.format, samples, f.jobs), value: series{float64(p.anon)}, unit: memory,
				target: atMost(float64(mostMemory + 32*samples)), ours: "with file pages " + memory.one(float64(p.peak))})
		}
	})
}

// TestMillionFiles plans a folder of a million files in one directory.
func TestMillionFiles(t *testing.T) {
	measure(t, "MillionFiles", func(record func(figure)) {
		dir := filepath.Join(work, "million")
		makeNames(t, filepath.Join(dir, "class"), 1_000_000)
		p := watch(t, "folder", dir, filepath.Join(work, "none"), "--dry-run", "--progress", "none", "--encode", "msgpack")
		settle(t, dir)
		record(figure{work: "memory to plan a million files in one directory", value: series{float64(p.anon)}, unit: memory,
			target: atMost(200e6), ours: seconds.one(p.seconds)})
	})
}
