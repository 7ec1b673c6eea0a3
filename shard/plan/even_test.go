package plan

import (
	"errors"
	"slices"
	"testing"
)

// Pieces are even, and hold each sample once; where their number is given, none has more samples than are allowed.
func TestEven(t *testing.T) {
	t.Parallel()
	var parts []PartIndex
	total := int64(0)
	for p := range 3 {
		var part PartIndex
		for i := range 1000 {
			size := int64(512 * (1 + (i*7+p)%40))
			if i < 200 {
				size = 512 // a dense stretch: many samples in few bytes
			}
			part.add(int64(i)*100, size, 0)
			total += size
		}
		part.Account.Samples = 1000
		parts = append(parts, part)
	}
	for _, row := range []struct {
		name  string
		sizes Sizes
		most  int64
		want  int
	}{
		{"one", Sizes{}, 0, 1},
		{"seven", Sizes{Shards: 7}, 0, 7},
		{"by size", Sizes{ShardSize: total / 5}, 0, 5},
		{"seven, and no more", Sizes{Shards: 7}, 3000, 7},
	} {
		pieces, err := Even(parts, Options{Sizes: withMost(row.sizes, row.most)})
		if err != nil {
			t.Fatal(row.name, err)
		}
		samples, bytes := int64(0), int64(0)
		least, largest := pieces[0].Bytes, int64(0)
		for _, p := range pieces {
			n := int64(0)
			for _, r := range p.Runs {
				n += r.Count
			}
			if len(p.Runs) > 3 {
				t.Errorf("%s: %d runs of three parts", row.name, len(p.Runs))
			}
			if n != p.Samples || row.most > 0 && n > row.most {
				t.Errorf("%s: a piece of %d samples, its runs have %d", row.name, p.Samples, n)
			}
			samples, bytes = samples+n, bytes+p.Bytes
			least, largest = min(least, p.Bytes), max(largest, p.Bytes)
		}
		if samples != 3000 || bytes != total || row.want > 0 && len(pieces) != row.want {
			t.Errorf("%s: %d pieces, %d samples, %d bytes of %d", row.name, len(pieces), samples, bytes, total)
		}
		if largest-least > 512*40 {
			t.Errorf("%s: pieces of %d to %d bytes", row.name, least, largest)
		}
	}
	if _, err := Even(parts, Options{Sizes: Sizes{Shards: 2, MaxSamples: 100}}); !errors.Is(err, errSizes) {
		t.Error(err)
	}
	for _, sizes := range []Sizes{{Min: 1}, {Max: 29}, {ShardSize: 1, Max: 299}, {Shards: 2, ShardSize: 3}} {
		if _, err := Even(parts, Options{Sizes: withMost(sizes, 100)}); !errors.Is(err, errSizes) {
			t.Errorf("%+v: %v", sizes, err)
		}
	}
	if _, err := Even([]PartIndex{{}}, Options{}); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
}

// Pieces of a number of samples begin where ShardWriter of webdataset begins a shard: before a sample, if the last one has so many, or so many bytes.
func TestFull(t *testing.T) {
	t.Parallel()
	sizes := []int64{512, 1024, 512, 5120, 512, 512, 9728, 512, 1536, 512, 512, 512, 1024}
	for _, parts := range [][]int{{13}, {4, 9}, {1, 0, 11, 1}} {
		for most := int64(1); most <= 14; most++ {
			for _, bytes := range []int64{0, 1, 600, 2048, 6000, 1 << 40} {
				var indexes []PartIndex
				i := 0
				for _, n := range parts {
					var part PartIndex
					for range n {
						part.add(int64(i)*100, sizes[i], 0)
						i++
					}
					part.Account.Samples = int64(n)
					indexes = append(indexes, part)
				}
				var want []int64
				count, size := most, int64(0) // as of a shard that is full
				for _, n := range sizes {
					if count >= most || bytes > 0 && size >= bytes {
						want, count, size = append(want, 0), 0, 0
					}
					want[len(want)-1]++
					count, size = count+1, size+n
				}
				pieces, err := Even(indexes, Options{Sizes: Sizes{ShardSize: bytes, MaxSamples: most}})
				if err != nil {
					t.Fatal(err)
				}
				var got []int64
				for _, p := range pieces {
					got = append(got, p.Samples)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%d samples, %d bytes: %v, want %v", most, bytes, got, want)
				}
			}
		}
	}
}

func withMost(s Sizes, samples int64) Sizes {
	s.MaxSamples = samples
	return s
}
