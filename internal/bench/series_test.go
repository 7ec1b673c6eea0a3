package bench

import (
	"fmt"
	"slices"
	"testing"
)

// A series is one quantity, measured once a round.
type series []float64

func (s series) median() float64 {
	sorted := slices.Sorted(slices.Values(s))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// with joins another series of as many rounds to it, round by round.
func (s series) with(o series, join func(x, y float64) float64) series {
	joined := make(series, len(s))
	for i := range s {
		joined[i] = join(s[i], o[i])
	}
	return joined
}

func (s series) over(o series) series {
	return s.with(o, func(x, y float64) float64 { return x / y })
}

func (s series) plus(o series) series {
	return s.with(o, func(x, y float64) float64 { return x + y })
}

func (s series) each(of func(float64) float64) series {
	all := make(series, len(s))
	for i := range s {
		all[i] = of(s[i])
	}
	return all
}

// under divides n by each: bytes by seconds are a rate, and the other way round.
func (s series) under(n float64) series {
	return s.each(func(x float64) float64 { return n / x })
}

// greatest returns the greatest of several series in each round.
func greatest(all []series) series {
	best := slices.Clone(all[0])
	for _, s := range all[1:] {
		best = best.with(s, func(x, y float64) float64 { return max(x, y) })
	}
	return best
}

// A unit says how a quantity is written.
type unit struct {
	format string
	name   string
	size   float64 // of one
}

var (
	ratio    = unit{"%.2f", "", 1}
	seconds  = unit{"%.2f", " s", 1}
	rate     = unit{"%.0f", " MB/s", 1e6} // of bytes a second
	memory   = unit{"%.1f", " MiB", 1 << 20}
	millis   = unit{"%.1f", " ms", 1e-3}
	micros   = unit{"%.2f", " µs", 1e-6}
	per      = func(what string) unit { return unit{"%.3f", " s a " + what, 1} }
	millions = func(what string) unit { return unit{"%.1f", " M " + what + "/s", 1e6} }
)

func (u unit) one(x float64) string { return fmt.Sprintf(u.format, x/u.size) + u.name }

// all writes the median, and the range in brackets where there is one.
func (u unit) all(s series) string {
	if len(s) < 2 {
		return u.one(s.median())
	}
	number := func(x float64) string { return fmt.Sprintf(u.format, x/u.size) }
	return fmt.Sprintf("%s (%s–%s)%s", number(s.median()), number(slices.Min(s)), number(slices.Max(s)), u.name)
}

// pace says how long n bytes took, and how fast that is.
func pace(n int64, took series) string {
	return seconds.all(took) + ", " + rate.all(took.under(float64(n)))
}

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		of   series
		want float64
	}{
		{series{3}, 3},
		{series{9, 1}, 5},
		{series{9, 1, 2}, 2},
		{series{4, 9, 1, 2}, 3},
	} {
		before := slices.Clone(tt.of)
		if got := tt.of.median(); got != tt.want || !slices.Equal(tt.of, before) {
			t.Errorf("%v: %v, want %v; left as %v", before, got, tt.want, tt.of)
		}
	}
}

func TestRoundByRound(t *testing.T) {
	t.Parallel()
	x, y := series{1, 8, 6}, series{2, 4, 3}
	for _, tt := range []struct {
		name      string
		got, want series
	}{
		{"over", x.over(y), series{0.5, 2, 2}},
		{"plus", x.plus(y), series{3, 12, 9}},
		{"under", y.under(12), series{6, 3, 4}},
		{"greatest", greatest([]series{x, y}), series{2, 8, 6}},
		{"x is as it was", x, series{1, 8, 6}},
	} {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}

func TestUnits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ got, want string }{
		{ratio.all(series{1, 0.25, 0.5}), "0.50 (0.25–1.00)"},
		{seconds.all(series{1.5}), "1.50 s"},
		{rate.all(series{1e6, 3e6}), "2 (1–3) MB/s"},
		{memory.one(3 << 19), "1.5 MiB"},
		{millis.one(0.0015), "1.5 ms"},
		{per("GB").one(0.1204), "0.120 s a GB"},
		{millions("items").one(4.25e6), "4.2 M items/s"},
		{pace(6e6, series{2, 3, 1}), "2.00 (1.00–3.00) s, 3 (2–6) MB/s"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}
