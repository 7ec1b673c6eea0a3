package plan

import (
	"errors"
	"math/rand/v2"
	"testing"
)

func TestParseTask(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text string
		want Task
		fits bool
	}{
		{"0/1", Task{0, 1}, true},
		{"3/40", Task{3, 40}, true},
		{"39/40", Task{39, 40}, true},
		{"40/40", Task{}, false},
		{"-1/40", Task{}, false},
		{"0/0", Task{}, false}, // what a script makes of a variable that is not set, not the whole
		{"0/-1", Task{}, false},
		{"3", Task{}, false},
		{"3/", Task{}, false},
		{"/40", Task{}, false},
		{"", Task{}, false},
		{"3/40/2", Task{}, false},
		{"a/b", Task{}, false},
		{"1e3/4000", Task{}, false},
		{"3/99999999999999999999", Task{}, false},
	} {
		got, err := ParseTask(row.text)
		if row.fits != (err == nil) || row.fits && got != row.want || !row.fits && !errors.Is(err, ErrTask) {
			t.Errorf("%q: %+v, %v", row.text, got, err)
		}
	}
}

// Each piece is one task's, in order, and no task has much more than its share.
func TestTaskSlice(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 8))
	for range 300 {
		sizes := make([]int64, rng.IntN(50))
		total, largest := int64(0), int64(0)
		for i := range sizes {
			sizes[i] = rng.Int64N(1 << rng.IntN(30))
			total, largest = total+sizes[i], max(largest, sizes[i])
		}
		n := 1 + rng.IntN(60)
		next := 0
		for k := range n {
			first, count := (Task{k, n}).Slice(sizes)
			if count == 0 {
				continue
			}
			if first != next {
				t.Fatalf("%d of %d begins at %d, not %d", k, n, first, next)
			}
			next += count
			bytes := int64(0)
			for _, s := range sizes[first:next] {
				bytes += s
			}
			if bytes > total/int64(n)+largest+1 {
				t.Errorf("%d of %d has %d bytes of %d, the largest piece %d", k, n, bytes, total, largest)
			}
		}
		if next != len(sizes) {
			t.Fatalf("%d of %d pieces are somebody's", next, len(sizes))
		}
	}
	for name, sizes := range map[string][]int64{
		"nothing in any": {0, 0, 0}, "sizes that nobody knows": {-1, -1, -1}, "more than there can be": {1 << 62, 1 << 62, 1 << 62},
	} {
		sum := 0
		for k := range 2 {
			_, n := Task{k, 2}.Slice(sizes)
			sum += n
		}
		if sum != 3 {
			t.Errorf("%s: %d of 3 pieces are somebody's", name, sum)
		}
	}
	if first, n := (Task{}).Slice([]int64{5, 6}); first != 0 || n != 2 {
		t.Error("the zero task is not the whole")
	}
}
