package bench

import (
	"math"
	"testing"
)

// A figure is one line of the tables: a quantity, and what it was measured from.
type figure struct {
	row           string // that it belongs to
	work, against string
	value         series
	unit          unit
	target        target
	ours, theirs  string
	limit         string // how near it is to what fio does
	leftOut       string // why there is no value
}

// A target is what the median must keep. The zero target is none.
type target struct {
	limit float64
	least bool // the limit is the least, not the most
}

func atMost(limit float64) target  { return target{limit: limit} }
func atLeast(limit float64) target { return target{limit: limit, least: true} }

func (t target) none() bool { return t == target{} }

func (t target) keeps(x float64) bool {
	if t.least {
		return x >= t.limit
	}
	return x <= t.limit // never of what is no number
}

func (f figure) wanted() string {
	switch {
	case f.target.none():
		return ""
	case f.target.least:
		return "≥ " + f.unit.one(f.target.limit)
	default:
		return "≤ " + f.unit.one(f.target.limit)
	}
}

func (f figure) measured() string {
	if len(f.value) == 0 {
		return ""
	}
	return f.unit.all(f.value)
}

// missed reports whether there is a target, and the figure does not keep it.
func (f figure) missed() bool {
	return !f.target.none() && len(f.value) > 0 && !f.target.keeps(f.value.median())
}

// verdict is a word, or the reason why there is none; "" where there is no target.
func (f figure) verdict() string {
	switch {
	case len(f.value) == 0:
		return "left out: " + f.leftOut
	case f.target.none():
		return ""
	case f.missed():
		return "MISSED"
	default:
		return "met"
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name            string
		figure          figure
		wanted, verdict string
	}{
		{"no target", figure{value: series{9}, unit: ratio}, "", ""},
		{"the most", figure{value: series{0, 1, 9}, unit: ratio, target: atMost(1)}, "≤ 1.00", "met"},
		{"more", figure{value: series{1.001}, unit: ratio, target: atMost(1)}, "≤ 1.00", "MISSED"},
		{"the least", figure{value: series{350e6}, unit: rate, target: atLeast(350e6)}, "≥ 350 MB/s", "met"},
		{"less", figure{value: series{349.9e6}, unit: rate, target: atLeast(350e6)}, "≥ 350 MB/s", "MISSED"},
		{"at least nothing", figure{value: series{-1}, unit: ratio, target: atLeast(0)}, "≥ 0.00", "MISSED"},
		{"no number", figure{value: series{math.NaN()}, unit: ratio, target: atMost(1)}, "≤ 1.00", "MISSED"},
		{"no number at least", figure{value: series{math.NaN()}, unit: ratio, target: atLeast(1)}, "≥ 1.00", "MISSED"},
		{"left out", figure{unit: ratio, target: atMost(1), leftOut: "no room"}, "≤ 1.00", "left out: no room"},
	} {
		if got := tt.figure.verdict(); got != tt.verdict || tt.figure.missed() != (got == "MISSED") || tt.figure.wanted() != tt.wanted {
			t.Errorf("%s: %q, wanted %q", tt.name, got, tt.figure.wanted())
		}
	}
}
