package plan

import (
	"errors"
	"testing"
)

// Pieces are even, hold each sample once, and at most so many samples as are allowed.
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
		{"by count", Sizes{}, 100, 0},
		{"both", Sizes{ShardSize: total / 5}, 3000, 5},
	} {
		pieces, err := Even(parts, EvenOptions{Sizes: row.sizes, MaxSamples: row.most})
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
	if _, err := Even(parts, EvenOptions{Sizes: Sizes{Shards: 2}, MaxSamples: 100}); !errors.Is(err, ErrSizes) {
		t.Error(err)
	}
	if _, err := Even([]PartIndex{{}}, EvenOptions{}); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
}
