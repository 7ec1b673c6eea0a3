package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func mixed(t testing.TB, sets [][]int64, opts Order) *ordering {
	t.Helper()
	o, err := newMixedOrdering(sets, opts)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// weightsOf are random proportions: small, large, equal, 0.
func weightsOf(rng *rand.Rand, sets int) string {
	var all []string
	for range sets {
		w := fmt.Sprint(rng.IntN(4))
		switch rng.IntN(4) {
		case 0:
			w = fmt.Sprintf("0.%03d", rng.IntN(1000))
		case 1:
			w = fmt.Sprint(1 + rng.IntN(9))
		}
		all = append(all, w)
	}
	all[rng.IntN(sets)] = "1"
	return strings.Join(all, ":")
}

// sizesOf are datasets of some shards.
func sizesOf(rng *rand.Rand, sets int) (all [][]int64) {
	for range sets {
		all = append(all, []int64{1 + rng.Int64N(40), rng.Int64N(30), rng.Int64N(300)})
	}
	return all
}

// watch follows a mixture from its start, by the samples that it gives.
type watch struct {
	*testing.T
	sets  [][]int64
	seed  uint64
	mode  Mode
	of    []int              // the dataset of each sample
	given []uint64           // by dataset
	seen  []map[int64]uint64 // epochs in which each sample was given, by dataset
	start uint64             // position of the phase
	since []uint64           // samples of the phase, by dataset
}

func (w *watch) begin() {
	w.given, w.since, w.seen = make([]uint64, len(w.sets)), make([]uint64, len(w.sets)), make([]map[int64]uint64, len(w.sets))
	for d, shards := range w.sets {
		w.seen[d] = make(map[int64]uint64)
		for _, n := range shards {
			w.of = append(w.of, slices.Repeat([]int{d}, int(n))...)
		}
	}
}

// sees takes the sample of a position, in a phase with proportions that are given as numbers.
func (w *watch) sees(position uint64, sample int64, p *phase) {
	w.Helper()
	if p.start != w.start {
		w.start = p.start
		clear(w.since)
	}
	d := w.of[sample]
	n := uint64(0)
	for _, samples := range w.sets[d] {
		n += uint64(samples)
	}
	if w.mode != Resample {
		if again := w.seen[d][sample]; again != w.given[d]/n {
			w.Fatalf("position %d: sample %d of dataset %d comes in its epoch %d, and was there %d times", position, sample, d, w.given[d]/n, again)
		}
		w.seen[d][sample]++
	}
	w.given[d]++
	w.since[d]++
	for k, count := range w.since {
		want := float64(position+1-p.start) * float64(p.weights[k]) / float64(p.sum)
		if math.Abs(float64(count)-want) >= 1 {
			w.Fatalf("after %d samples of weights %d dataset %d has given %d, want %.2f", position+1-p.start, p.weights, k, count, want)
		}
	}
}

// Runs that stop anywhere, go on with other ranks and other proportions: each dataset gives each sample once an epoch of its own, and each
// prefix of a phase has the proportions.
func TestMixtures(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 38))
		sets := 1 + rng.IntN(5)
		w := &watch{T: t, sets: sizesOf(rng, sets), seed: rng.Uint64() >> 1}
		w.mode = []Mode{Global, Global, Sequential, Resample, Window(20), Interleave(3)}[rng.IntN(6)]
		w.begin()
		opts := Order{Seed: w.seed, Batch: 1 + rng.Int64N(30), Mode: w.mode, Mix: weightsOf(rng, sets), Steps: 1 + rng.Int64N(40)}
		o := mixed(t, w.sets, opts)
		total, state := int64(1+rng.IntN(100)), o.state("d", 0, 0)
		for at := int64(0); at < total; {
			if rng.IntN(2) == 0 && at > 0 { // other proportions from here, or from a later step, on
				begins := at + rng.Int64N(5)
				opts.Mix = fmt.Sprintf("%s,%d=%s", o.mix.upTo(begins), begins, weightsOf(rng, sets))
			}
			o = mixed(t, w.sets, opts)
			text, err := json.Marshal(state)
			if err != nil {
				t.Fatal(err)
			}
			state = State{}
			if err := json.Unmarshal(text, &state); err != nil {
				t.Fatal(err)
			}
			step, err := o.step(state, "d")
			if err != nil || int64(state.Epoch)*opts.Steps+step != at {
				t.Fatalf("seed %d: %s: step %d, %v", seed, text, step, err)
			}
			world := 1 + rng.IntN(4)
			for stop := min(total, at+1+rng.Int64N(20)); at < stop; at++ {
				epoch := o.epoch(uint64(at / opts.Steps))
				var samples []int64
				for rank := range world {
					samples = epoch.batch(samples, at%opts.Steps, rank, world)
				}
				for k, sample := range samples {
					position := uint64(at*opts.Batch) + uint64(k)
					n := slices.IndexFunc(o.mix.phases, func(p phase) bool { return p.start > position })
					w.sees(position, sample, &o.mix.phases[(n+len(o.mix.phases)+1)%(len(o.mix.phases)+1)-1])
				}
				state = o.state("d", uint64(at/opts.Steps), at%opts.Steps+1)
				if state.Position == opts.Steps*opts.Batch {
					state = o.state("d", uint64(at/opts.Steps)+1, 0)
				}
			}
		}
	}
}

// A state has the proportions up to its step, and no others: those of later steps may change.
func TestMixtureState(t *testing.T) {
	t.Parallel()
	sets := [][]int64{{1000}, {500, 200}, {100}, {1e9}}
	opts := Order{Seed: 1<<63 - 1, Batch: 4096, Mode: Interleave(64), Mix: "0.5:0.2:0.2:0.1,10000=10:20:30:40,200000=1:1:1:1", Steps: 100_000}
	o := mixed(t, sets, opts)
	digest := strings.Repeat("f", 32)
	text, err := json.Marshal(o.state(digest, 2, 7))
	if err != nil || len(text) > 300 {
		t.Fatalf("%d bytes: %s, %v", len(text), text, err)
	}
	if got := o.state(digest, 0, 10_000).Mix; got != "0=5:2:2:1" {
		t.Error(got)
	}
	if got := o.state(digest, 0, 10_001).Mix; got != "0=5:2:2:1,10000=1:2:3:4" {
		t.Error(got)
	}
	for _, c := range []struct {
		mix  string
		step int64
		says string
	}{
		{"5:2:2:1,10000=1:2:3:4", 20_000, ""}, {"5:2:2:1,10000=1:2:3:4,20000=1:0:0:0", 20_000, ""}, {"5:2:2:1,10000=1:2:3:4,19999=1:0:0:0", 20_000, "its mix is"},
		{"5:2:2:1", 10_000, ""}, {"5:2:2:1", 10_001, "its mix is"}, {"5:2:2:2", 1, "its mix is"}, {"", 1, "order 2"},
	} {
		s := o.state(digest, 0, c.step)
		other := opts
		if other.Mix = c.mix; c.mix == "" {
			other.Steps = 0
		}
		if _, err := mixed(t, sets, other).step(s, digest); c.says == "" && err != nil || c.says != "" && (!errors.Is(err, ErrState) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s at %d: %v", c.mix, c.step, err)
		}
	}
}

func TestMixtureRefuses(t *testing.T) {
	t.Parallel()
	sets := [][]int64{{10}, {20}}
	for _, c := range []struct {
		opts Order
		says string
	}{
		{Order{Mix: "7"}, "of 1 datasets, not of 2"}, {Order{Mix: "7:3:1"}, "of 3 datasets"}, {Order{Mix: "a:b"}, `"a" is no proportion`}, {Order{Mix: "-1:2"}, "no proportion"},
		{Order{Mix: "1e3:1"}, "no proportion"}, {Order{Mix: "0.7:"}, `"" is no proportion`}, {Order{Mix: "0.5:."}, "no proportion"}, {Order{Mix: "1:1,+9=1:2"}, "steps that ascend"}, {Order{Mix: ":1"}, "no proportion"}, {Order{Mix: "0:0"}, "all proportions are 0"}, {Order{Mix: "65536:1"}, "have the sum 65537"},
		{Order{Mix: "0.123457:1"}, "round them"}, {Order{Mix: "1:1,0=1:2"}, "steps that ascend"}, {Order{Mix: "1:1,9=1:2,9=1:1"}, "steps that ascend"}, {Order{Mix: "5=1:1"}, "steps that ascend"},
		{Order{Mix: "1:1,x=1:2"}, "steps that ascend"}, {Order{Mix: "1:1", Mode: Group, Groups: make([]int64, 30)}, "mode group"}, {Order{Mix: "1:1", Ends: Pad}, "has no end"},
		{Order{Steps: 5}, "for a mixture"}, {Order{Mix: "1:1", Steps: -1}, "steps in an epoch"}, {Order{Mix: "1:1", Steps: 1 << 62}, "steps in an epoch"},
		{Order{Mix: "1:1,4611686018427387904=1:2"}, "too large"},
	} {
		c.opts.Batch = 4
		if _, err := newMixedOrdering(sets, c.opts); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.opts, err, c.says)
		}
	}
	if _, err := newMixedOrdering([][]int64{{10}, {0}}, Order{Mix: "1:1", Batch: 4}); err == nil || !strings.Contains(err.Error(), "dataset 2 of the mixture: the dataset has no samples") {
		t.Error(err)
	}
}

func BenchmarkMixture(b *testing.B) {
	o := mixed(b, [][]int64{{1e9}, {3e8}, {7e7}}, Order{Batch: 4096, Mix: "0.5:0.3:0.2,1000=0.333:0.333:0.334", Steps: 1e6})
	epoch, samples := o.epoch(0), make([]int64, 0, 4096)
	for n := int64(0); b.Loop(); n++ {
		samples = epoch.batch(samples[:0], n, 0, 1)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/sample")
}
