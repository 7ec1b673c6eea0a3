//go:build bench && linux

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	arrowcsv "github.com/apache/arrow/go/v15/arrow/csv"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/csv"
)

const (
	mostOfTree   = 1.3       // of a durable copy, for a folder of files and for items of 100 KB
	leastTable   = 250e6     // bytes of CSV a second
	leastOfArrow = 3         // times as fast as Arrow's reader
	leastItems   = 2_000_000 // items a second
	planMemory   = 200e6     // bytes, for a folder of a million files
)

// TestFolder converts a folder of files of 100 KB.
func TestFolder(t *testing.T) {
	set := setOf(t, files)
	copied(t, "folder of files of 100 KB", set, durableTree, "folder")
	used(t, "folder", set, int64(len(filesUnder(t, set))))
}

// TestItems converts CBOR byte strings of 100 KB.
func TestItems(t *testing.T) {
	set := setOf(t, strings100)
	copied(t, "CBOR byte strings of 100 KB", set, durableCopy, "cbor")
	used(t, "cbor", set, 10*(volume*1_000/(2<<30)))
}

// copied measures a durable conversion against a durable copy.
func copied(t *testing.T, what, set string, copy contender, format string) {
	t.Helper()
	size := sizeOf(t, filesUnder(t, set))
	s := compete(t, set, copy, convert(format, "--no-verify"), convert(format))
	ratio := s[1].over(s[0])
	report(t, row{what + " ÷ cp + sync", ratio.String(), fmt.Sprintf("≤ %.1f", mostOfTree), rate(size, s[1]), rate(size, s[0])})
	if ratio.median() > mostOfTree {
		t.Errorf("%s take %v of the time of a durable copy; want %.1f at the most", what, ratio, mostOfTree)
	}
	report(t, row{"the same with verification", s[2].over(s[0]).String(), "", rate(size, s[2]), ""})
}

// used watches the memory of a conversion of so many samples. The plan is apart from the
// limit: 16 bytes a sample, and as much again until the garbage collector looks.
func used(t *testing.T, format, set string, samples int64) {
	t.Helper()
	out := filepath.Join(work, "out")
	p := watch(t, format, set, out, "--progress", "none", "--jobs", "2")
	settle(t, out)
	limit := mostMemory + 32*samples
	report(t, row{fmt.Sprintf("memory of %s, %d samples, --jobs 2", format, samples), mib(p.anon), "≤ " + mib(limit), "with file pages " + mib(p.peak), ""})
	if p.anon > limit {
		t.Errorf("%s took %s; want %s at the most", format, mib(p.anon), mib(limit))
	}
}

// TestPairs converts CSV of two floats a row, and sets reading it beside Arrow's reader.
func TestPairs(t *testing.T) {
	set := setOf(t, pairs)
	size := sizeOf(t, filesUnder(t, set))
	s := compete(t, set, convert("csv", "--no-verify"), convert("csv"), reads(oursReads), reads(arrowReads))
	speed := float64(size) / s[0].median()
	report(t, row{fmt.Sprintf("CSV of %d rows of two floats", pairRows()), fmt.Sprintf("%.0f MB/s", speed/1e6), fmt.Sprintf("≥ %.0f MB/s", leastTable/1e6), rate(size, s[0]), ""})
	if speed < leastTable {
		t.Errorf("CSV is converted at %.0f MB/s; want %.0f at the least", speed/1e6, leastTable/1e6)
	}
	report(t, row{"the same with verification", fmt.Sprintf("%.0f MB/s", float64(size)/s[1].median()/1e6), "", rate(size, s[1]), ""})
	times := s[3].over(s[2])
	report(t, row{"Arrow's CSV reader ÷ ours, one core", times.String(), fmt.Sprintf("≥ %d", leastOfArrow), rate(size, s[2]), rate(size, s[3])})
	if times.median() < leastOfArrow {
		t.Errorf("Arrow's reader takes %v times as long; want %d at the least", times, leastOfArrow)
	}
	report(t, row{"Arrow's CSV reader ÷ the whole conversion", s[3].over(s[0]).String(), "", rate(size, s[0]), rate(size, s[3])})
	used(t, "csv", set, pairRows())
}

// reads is a contender that reads all parts of a set, one after another, in this process.
func reads(read func(path string) error) contender {
	return func(t *testing.T, set, _ string) process {
		paths := filesUnder(t, set)
		return timed(func() {
			for _, path := range paths {
				if err := read(path); err != nil {
					t.Fatalf("%s: %v", path, err)
				}
			}
		})
	}
}

// arrowReads reads rows of two floats with Arrow's CSV reader, and keeps nothing.
func arrowReads(path string) error {
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "y", Type: arrow.PrimitiveTypes.Float64}}, nil)
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := arrowcsv.NewReader(f, schema, arrowcsv.WithChunk(8192))
	defer r.Release()
	for r.Next() {
	}
	if err := r.Err(); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// oursReads reads the same with ours.
func oursReads(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	src, err := csv.Open([]converters.Part{{Name: path, Path: path, Size: st.Size()}}, csv.Options{})
	if err != nil {
		return err
	}
	for _, err := range src.Read(context.Background(), converters.Run{Count: pairRows() / 8}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestSmallItems converts CBOR maps of some forty bytes.
func TestSmallItems(t *testing.T) {
	set := setOf(t, smallItems)
	size := sizeOf(t, filesUnder(t, set))
	s := compete(t, set, convert("cbor", "--no-verify"), convert("cbor"))
	speed := smallItemCount / s[0].median()
	report(t, row{fmt.Sprintf("%d CBOR items of %d bytes", int(smallItemCount), size/smallItemCount), fmt.Sprintf("%.1f M items/s", speed/1e6), fmt.Sprintf("≥ %.1f M items/s", leastItems/1e6), rate(size, s[0]), ""})
	if speed < leastItems {
		t.Errorf("%.0f items a second; want %d at the least", speed, leastItems)
	}
	report(t, row{"the same with verification", fmt.Sprintf("%.1f M items/s", smallItemCount/s[1].median()/1e6), "", rate(size, s[1]), ""})
}

// TestMillionFiles plans a folder of a million files, in one directory and in a thousand.
func TestMillionFiles(t *testing.T) {
	for _, dirs := range []int{1, 1000} {
		dir := filepath.Join(work, fmt.Sprintf("million-%d", dirs))
		makeEmptyFiles(t, dir, dirs, 1_000_000)
		p := watch(t, "folder", dir, filepath.Join(work, "none"), "--dry-run", "--progress", "none", "--encode", "msgpack")
		settle(t, dir)
		report(t, row{fmt.Sprintf("memory to plan a million files, %d a directory", 1_000_000/dirs), mib(p.anon), "≤ " + mib(planMemory), fmt.Sprintf("%.1f s", p.seconds), ""})
		if p.anon > planMemory {
			t.Errorf("planning a million files in %d directories took %s; want %s at the most", dirs, mib(p.anon), mib(planMemory))
		}
	}
}
