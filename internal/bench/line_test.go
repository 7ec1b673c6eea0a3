package bench

import (
	"fmt"
	"math"
	"testing"
)

// A line is what something takes as its count grows: so much fixed, and so much each. Both have a value a round.
type line struct{ fixed, each series }

// fit returns the line of least squares through the points of each round. took[i] are the rounds of counts[i].
func fit(counts []int64, took []series) (l line) {
	n := float64(len(counts))
	for round := range took[0] {
		var sx, sy, sxx, sxy float64
		for i, c := range counts {
			x, y := float64(c), took[i][round]
			sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
		}
		each := (n*sxy - sx*sy) / (n*sxx - sx*sx)
		l.fixed, l.each = append(l.fixed, (sy-each*sx)/n), append(l.each, each)
	}
	return l
}

func (l line) String() string {
	return fmt.Sprintf("%.0f ms + %s each", l.fixed.median()*1e3, micros.all(l.each))
}

func TestFit(t *testing.T) {
	t.Parallel()
	counts := []int64{100, 200, 600}
	l := fit(counts, []series{{1.5, 0.1}, {2.5, 0.3}, {6.5, 0.8}})
	if math.Abs(l.fixed[0]-0.5) > 1e-9 || math.Abs(l.each[0]-0.01) > 1e-9 {
		t.Errorf("%v + %v each, want 0.5 + 0.01", l.fixed[0], l.each[0])
	}
	// No other line through the second round's points has a smaller sum of squares.
	squares := func(fixed, each float64) (sum float64) {
		for i, y := range []float64{0.1, 0.3, 0.8} {
			d := fixed + each*float64(counts[i]) - y
			sum += d * d
		}
		return sum
	}
	for _, d := range []float64{-1e-5, 1e-5} {
		if best := squares(l.fixed[1], l.each[1]); squares(l.fixed[1]+d*100, l.each[1]) < best || squares(l.fixed[1], l.each[1]+d) < best {
			t.Errorf("%v + %v is not the best line", l.fixed[1], l.each[1])
		}
	}
	if got, want := (line{series{0.0312}, series{1.834e-6}}).String(), "31 ms + 1.83 µs each"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
