//go:build bench && linux

package bench

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A gridded is a column of the grid: what each number of samples took in so many parts.
type gridded struct {
	parts   int
	samples []int64
	plan    []runs // of synthetic
	csv     []runs // CSV of as many rows
}

// theGrid plans and converts 10,000 to 100 million samples, at 2 GiB, in one part, a hundred and ten thousand.
var theGrid = shared(func(t *testing.T) (columns []gridded) {
	most := volume * 100_000_000 / (2 << 30)
	for _, parts := range []int{1, 100, 10_000} {
		c := gridded{parts: parts}
		for _, part := range []int64{10_000, 100, 10, 1} {
			n := most / part
			c.samples = append(c.samples, n)
			c.plan = append(c.plan, gridRuns(n, func() process { return planOf(t, n, parts) }))
			set, out := filepath.Join(work, "rows"), filepath.Join(work, "out")
			makeRows(t, set, n, parts)
			c.csv = append(c.csv, gridRuns(n, func() process {
				settle(t, out)
				return finish(t, conversion("csv", set, out, "--no-verify"), true)
			}))
			settle(t, out, set)
		}
		columns = append(columns, c)
	}
	return columns
})

// gridRuns runs what takes long once.
func gridRuns(samples int64, run func() process) (all runs) {
	count := longRounds
	if samples > 10_000_000 {
		count = 1
	}
	for range count {
		all = append(all, run())
	}
	return all
}

// makeRows writes rows of a number each, in so many parts of the same size, into the page cache.
func makeRows(t *testing.T, dir string, rows int64, parts int) {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for part := range int64(parts) {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("part-%05d.csv", part)))
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriterSize(f, 64<<10)
		var row [9]byte
		for i := rows * part / int64(parts); i < rows*(part+1)/int64(parts); i++ {
			w.Write(fmt.Appendf(row[:0], "%08d\n", i))
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestS17: ten times the samples take ten times as long, in however many parts.
func TestS17(t *testing.T) {
	measure(t, "S17", func(record func(figure)) {
		for _, c := range theGrid(t) {
			few, many := len(c.samples)-2, len(c.samples)-1
			for _, m := range []struct {
				what string
				all  []runs
			}{{"plan", c.plan}, {"CSV of a number a row, `--no-verify`", c.csv}} {
				n := c.samples[many]
				each := func(i int) series { return series{m.all[i].cpu().median() / float64(c.samples[i])} }
				record(figure{work: fmt.Sprintf("%s: %d samples in %d parts: processor time a sample", m.what, n, c.parts), against: fmt.Sprintf("of %d", c.samples[few]),
					value: each(many).over(each(few)), unit: ratio, target: atMost(1.25), ours: micros.all(each(many)), theirs: micros.all(each(few))})
			}
			peak := c.csv[many].each(func(p process) float64 { return float64(p.anon) })
			record(figure{work: fmt.Sprintf("CSV of %d rows in %d parts: peak anonymous memory", c.samples[many], c.parts), value: peak, unit: memory, target: atMost(mostMemory)})
		}
	})
}

// TestGrid is all of that.
func TestGrid(t *testing.T) {
	measure(t, "Grid", func(record func(figure)) {
		for _, c := range theGrid(t) {
			for _, m := range []struct {
				what string
				all  []runs
			}{{"plan", c.plan}, {"CSV of a number a row, `--no-verify`", c.csv}} {
				for i, n := range c.samples {
					anon := m.all[i].each(func(p process) float64 { return float64(p.anon) })
					record(figure{work: fmt.Sprintf("%s: %d samples in %d parts", m.what, n, c.parts), value: m.all[i].seconds(), unit: seconds,
						ours: fmt.Sprintf("%s of CPU, %s of anonymous memory", seconds.all(m.all[i].cpu()), memory.all(anon))})
				}
			}
		}
	})
}
