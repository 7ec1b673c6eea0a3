package dataset

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// indexedFile is the bytes of an index file of all parts, and what they were found as.
func indexedFile(t testing.TB, seed uint64, parts, samples int) ([]byte, []converters.Part) {
	t.Helper()
	src, found, enc := IndexedFixture(t, seed, parts, samples)
	index, err := plan.Index(t.Context(), src, plan.IndexOptions{Encodings: enc, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := writeIndexed(&file, indexedHead{Asked: "x", Shown: "y"}, found, numbered(from(0, parts), index)); err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), found
}

// readBack reads an index file as far as it is sound.
func readBack(data []byte, found []converters.Part) (map[int]plan.PartIndex, error) {
	got := make(map[int]plan.PartIndex)
	err := newIndexedReader(bytes.NewReader(data), "x", found).read(func(i int, _ string, idx plan.PartIndex) { got[i] = idx })
	return got, err
}

// Of a file that is cut anywhere, or has any byte changed, what is read is what was written; and
// it is said that something is wrong.
func TestIndexedDamage(t *testing.T) {
	t.Parallel()
	data, found := indexedFile(t, 5, 3, 20)
	want, err := readBack(data, found)
	if err != nil || len(want) != 3 {
		t.Fatal(len(want), err)
	}
	check := func(what string, data []byte) {
		got, err := readBack(data, found)
		if err == nil || strings.Contains(err.Error(), "\n") || len(got) == 3 {
			t.Fatalf("%s: %d parts, %v", what, len(got), err)
		}
		for i, p := range got {
			if !reflect.DeepEqual(p, want[i]) {
				t.Fatalf("%s: part %d: %+v, want %+v", what, i, p.Part, want[i].Part)
			}
		}
	}
	for cut := range len(data) - 1 { // the last newline does not count
		check(fmt.Sprint("cut at ", cut), data[:cut])
	}
	for at := range data[:len(data)-1] {
		data[at] ^= 1 << (at % 8)
		check(fmt.Sprint("changed at ", at), data)
		data[at] ^= 1 << (at % 8)
	}
}

// Places of any distances are packed and unpacked, in as many lines as it takes.
func TestIndexedPlaces(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		samples   int
		unit, gap int64 // the widest distance, in units
		cost      int64 // beside that
		most      float64
	}{
		"photos in a tar": {plan.PackedPlaces + 3, 512, 400, 1 << 11, 5.5},
		"rows":            {plan.PackedPlaces * 2, 1, 100, 0, 3.5},
		"far apart":       {1000, 1, 1 << 50, 1 << 40, 30},
		"one":             {1, 512, 1, 9, 200},
		"none":            {0, 1, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 2))
			idx := plan.PartIndex{Part: plan.Part{Name: "a"}}
			off := 3 * row.unit
			for i := range row.samples {
				gap := row.unit * (1 + rng.Int64N(row.gap))
				cost := gap + plan.TableRow + rng.Int64N(row.cost+1)
				if idx.Account.Samples++; i%7 == 6 {
					idx.Account.SamplesLeftOut++
					cost = plan.TableRow - 1
				}
				idx.Add(off, cost-plan.TableRow)
				off += gap
			}
			idx.Size = off
			idx.Trim()
			var file bytes.Buffer
			found := []converters.Part{{Name: "a", Size: 9, Copy: &converters.Copy{Mark: "etag=a"}}}
			if err := writeIndexed(&file, indexedHead{Asked: "x", Shown: "y"}, found, map[int]plan.PartIndex{0: idx}); err != nil {
				t.Fatal(err)
			}
			got, err := readBack(file.Bytes(), found)
			if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], idx) {
				t.Errorf("%v: got %d samples that cost %d, want %d and %d", err, got[0].N, got[0].Cost, idx.N, idx.Cost)
			}
			if each := float64(file.Len()-500) / float64(row.samples); row.samples > 100 && each > row.most {
				t.Errorf("%.1f bytes a sample, want %.1f at most", each, row.most)
			}
		})
	}
}
