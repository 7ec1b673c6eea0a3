package wrap

import (
	"math"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/csv"
)

// The numbers of SplitMix64 with seed 1234567 are those of its authors' program.
func TestScramble(t *testing.T) {
	t.Parallel()
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := scramble(1234567 + uint64(i+1)*golden); got != want {
			t.Errorf("number %d is %d, want %d", i, got, want)
		}
	}
}

// What a seed draws never changes: datasets were made by it.
func TestDrawIsForever(t *testing.T) {
	t.Parallel()
	part := &converters.Part{Size: 1 << 20}
	for _, row := range []struct {
		seed             uint64
		collection, part int
		share            float64
		want             string
	}{
		{0, 0, 0, 0.5, "x-x--x-xx--xxx--xx-xx--x----x--xx---x-xx"},
		{7, 0, 0, 0.5, "xxx---xxxxx-xx--xxx--x-----x---xx----x-x"},
		{7, 1, 0, 0.5, "x-------xx-x---x-x-xxx---xxxx---xx----xx"},
		{7, 0, 1, 0.5, "x--x-xx-xxxx-xx--------xx---xx-xxxx-x---"},
		{math.MaxUint64, 3, 1000, 0.1, "----------x------------x-xx--x----------"},
	} {
		d := newDraw(row.seed, row.collection, row.part, row.share, part)
		var b strings.Builder
		for i := range int64(40) {
			b.WriteByte("-x"[map[bool]int{true: 1}[d.takes(i)]])
		}
		if got := b.String(); got != row.want {
			t.Errorf("seed %d, collection %d, part %d, share %v: %s, want %s", row.seed, row.collection, row.part, row.share, got, row.want)
		}
	}
}

// A share is met within five standard deviations in each part, and parts are drawn
// independently of each other.
func TestDrawShare(t *testing.T) {
	t.Parallel()
	const n = 100_000
	for _, share := range []float64{0.001, 0.1, 0.5, 0.9, 0.999} {
		both := 0
		var before *draw
		for part := range 4 {
			d := newDraw(42, 1, part, share, &converters.Part{Size: n})
			drawn := 0
			for i := range int64(n) {
				if d.takes(i) {
					drawn++
					if before != nil && before.takes(i) {
						both++
					}
				}
			}
			if off := math.Abs(float64(drawn) - share*n); off > 5*math.Sqrt(n*share*(1-share)) {
				t.Errorf("share %v of part %d: %d of %d", share, part, drawn, n)
			}
			before = d
		}
		p := share * share
		if off := math.Abs(float64(both) - 3*n*p); off > 5*math.Sqrt(3*n*p*(1-p))+5*n*share*math.Sqrt(share/n) {
			t.Errorf("share %v: %d samples are drawn in neighbouring parts, want some %.0f", share, both, 3*n*p)
		}
	}
}

// The k-th drawn sample is found as counting finds it, asked for in any order.
func TestDrawOrdinal(t *testing.T) {
	t.Parallel()
	for _, share := range []float64{0.002, 0.5, 0.99} {
		part := &converters.Part{Size: 20_000}
		d := newDraw(9, 0, 0, share, part)
		var want []int64
		for i := range part.Size {
			if d.takes(i) {
				want = append(want, i)
			}
		}
		for step := range len(want) {
			k := int64(step*7919) % int64(len(want))
			if got, err := d.ordinal(t.Context(), k); err != nil || got != want[k] {
				t.Fatalf("share %v: drawn sample %d is %d, want %d (%v)", share, k, got, want[k], err)
			}
		}
	}
}

// The first of rows that are alike may not be drawn: then the next is not like the one that
// was told of before.
func TestDrawAlike(t *testing.T) {
	t.Parallel()
	src := open(t, 2, Collection{Source: rows(t, csv.Options{}, file(t, "a.csv", numbers(3000))), Times: 0.01})
	inner := rows(t, csv.Options{}, file(t, "b.csv", numbers(3000)))
	first := true
	alike, drawn := 0, 0
	for span, err := range src.Index(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if span.Shape == nil {
			continue
		}
		if first && span.Alike {
			t.Error("the first drawn sample is like the one before it")
		}
		first = false
		drawn++
		if span.Alike {
			alike++
		}
	}
	n := 0
	for span, err := range inner.Index(t.Context(), 0) {
		if err == nil && span.Alike {
			n++
		}
	}
	if n != 2999 || alike != drawn-1 || drawn == 0 {
		t.Errorf("%d of %d rows are alike; drawn, %d of %d", n, 3000, alike, drawn)
	}
}

func BenchmarkDraw(b *testing.B) {
	d := newDraw(1, 0, 0, 0.5, &converters.Part{Size: 1 << 30})
	b.Run("takes", func(b *testing.B) {
		b.ReportAllocs()
		for i := int64(0); b.Loop(); i++ {
			d.takes(i)
		}
	})
	b.Run("ordinal", func(b *testing.B) {
		b.ReportAllocs()
		for i := int64(0); b.Loop(); i++ {
			if _, err := d.ordinal(b.Context(), i*104729%1_000_000); err != nil {
				b.Fatal(err)
			}
		}
	})
}
