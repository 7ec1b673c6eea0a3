package loader

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

func made(t *testing.T, shards []int64, opts Order) *ordering {
	t.Helper()
	o, err := newOrdering(shards, opts)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Runs that stop anywhere, go on from their state and change the number of ranks read every sample once, in the same global batches.
func TestSchedules(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 9))
	groups := make([]int64, 3000)
	for i := range groups {
		groups[i] = int64(rng.IntN(7))
	}
	for range 1000 {
		sizes := []int64{int64(rng.IntN(1000)), 1 + int64(rng.IntN(1000)), int64(rng.IntN(1000))}
		n := sizes[0] + sizes[1] + sizes[2]
		opts := Order{Seed: rng.Uint64() >> 1, Batch: 1 + int64(rng.IntN(200)), Mode: []Mode{Global, Sequential, Group, Window(1 + int64(rng.IntN(700))), Interleave(1 + int64(rng.IntN(12)))}[rng.IntN(5)], Ends: []Ends{Drop, Pad, Short}[rng.IntN(3)]}
		if opts.Mode == Group {
			opts.Groups = groups[:n]
		}
		number := rng.Uint64() >> 1
		o := made(t, sizes, opts)
		whole := o.epoch(number)
		times := make([]int, n)
		state := o.state("d", number, 0)
		for step := int64(0); step < o.steps(); {
			text, err := json.Marshal(state) // a run ends here, and another goes on
			if err != nil || len(text) > 220 {
				t.Fatalf("%s: %v", text, err)
			}
			var got State
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			again := made(t, sizes, opts)
			if step, err = again.step(got, "d"); err != nil {
				t.Fatal(err)
			}
			epoch, world := again.epoch(got.Epoch), 1+rng.IntN(64)
			for range 1 + rng.IntN(1+int(o.steps())/4) {
				var batch []int64
				for rank := range world {
					batch = epoch.batch(batch, step, rank, world)
				}
				if want := whole.batch(nil, step, 0, 1); !slices.Equal(batch, want) {
					t.Fatalf("%+v, step %d on %d ranks: %d, want %d", opts, step, world, batch, want)
				}
				for _, i := range batch {
					times[i]++
				}
				if step++; step == o.steps() {
					break
				}
			}
			state = again.state("d", got.Epoch, step)
		}
		if step, err := o.step(state, "d"); step != o.steps() || err != nil {
			t.Fatalf("the end of an epoch: step %d, %v", step, err)
		}
		lost, twice := int64(0), int64(0)
		for _, k := range times {
			if k == 0 {
				lost++
			}
			twice += max(0, int64(k-1))
		}
		wantLost, wantTwice := int64(0), int64(0)
		switch opts.Ends {
		case Drop:
			wantLost = n % opts.Batch
		case Pad:
			wantTwice = o.steps()*opts.Batch - n
		}
		if lost != wantLost || twice != wantTwice {
			t.Fatalf("%+v of %d: %d lost, want %d; %d more than once, want %d", opts, n, lost, wantLost, twice, wantTwice)
		}
	}
}

// Ranks take equal shares where their number divides the batch; else shares differ by one.
func TestShares(t *testing.T) {
	t.Parallel()
	o := made(t, []int64{1000}, Order{Batch: 96, Ends: Short})
	e := o.epoch(0)
	for world := 1; world <= 100; world++ {
		for rank := range world {
			if n := len(e.batch(nil, 0, rank, world)); n < 96/world || n > (96+world-1)/world {
				t.Errorf("rank %d of %d takes %d of 96", rank, world, n)
			}
		}
	}
	even := made(t, []int64{1000}, Order{Batch: 96, Ends: Even}) // the last step has 40 positions
	for world := 1; world <= 96; world++ {
		var all []int64
		for rank := range world {
			if all = even.epoch(0).batch(all, even.steps()-1, rank, world); len(all) != (rank+1)*((40+world-1)/world) {
				t.Errorf("ranks 0 to %d of %d take %d of 40", rank, world, len(all))
			}
		}
		if want := even.epoch(0).add(nil, 960, 960+int64(len(all))); !slices.Equal(all, want) {
			t.Errorf("%d ranks take %d, want %d", world, all, want)
		}
	}
	last := 0
	for rank := range 64 {
		last += len(e.batch(nil, o.steps()-1, rank, 64))
	}
	if last != 1000%96 {
		t.Errorf("the last step has %d samples", last)
	}
}

// Inside of a window are the samples of a stretch of the shards alone.
func TestWindow(t *testing.T) {
	t.Parallel()
	o := made(t, []int64{100, 0, 50, 250}, Order{Batch: 10, Mode: Window(64)})
	e := o.epoch(3)
	shardOf := func(i int64) int {
		switch {
		case i < 100:
			return 0
		case i < 150:
			return 2
		}
		return 3
	}
	var order []int // of shards, as windows show them
	for lo := int64(0); lo < 400; lo += 64 {
		window := e.add(nil, lo, min(lo+64, 400))
		if slices.IsSorted(window) {
			t.Errorf("the window at %d is in order", lo)
		}
		slices.Sort(window)
		runs := 1
		for i := 1; i < len(window); i++ {
			if window[i] != window[i-1]+1 {
				runs++
			}
		}
		if runs > 3 {
			t.Errorf("the window at %d has samples of %d stretches", lo, runs)
		}
		order = append(order, shardOf(window[0]))
	}
	if len(slices.Compact(order)) > 5 {
		t.Errorf("shards come more than once: %v", order)
	}
}

// Samples of one group share a batch, but for the rests of groups.
func TestGroups(t *testing.T) {
	t.Parallel()
	groups := make([]int64, 1000)
	for i := range groups {
		groups[i] = int64(i % 4)
	}
	o := made(t, []int64{1000}, Order{Batch: 16, Mode: Group, Groups: groups})
	e := o.epoch(0)
	mixed := 0
	for step := range o.steps() {
		of := make(map[int64]bool)
		for _, i := range e.batch(nil, step, 0, 1) {
			of[groups[i]] = true
		}
		if len(of) > 1 {
			mixed++
		}
	}
	if mixed > 3 {
		t.Errorf("%d of %d batches have samples of several groups", mixed, o.steps())
	}
	first := e.batch(nil, 0, 0, 1)
	if other := o.epoch(1).batch(nil, 0, 0, 1); slices.Equal(first, other) {
		t.Error("two epochs begin alike")
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		shards []int64
		opts   Order
		want   string
	}{
		{nil, Order{Batch: 1}, "the dataset has no samples"},
		{[]int64{-1}, Order{Batch: 1}, "a shard of -1 samples: want 0 or more, 281474976710656 at most in all"},
		{[]int64{5}, Order{}, "a batch of 0 samples: want 1 to 1099511627776"},
		{[]int64{5}, Order{Batch: 1, Seed: 1 << 63}, "seed 9223372036854775808: want 0 to 9223372036854775807"},
		{[]int64{5}, Order{Batch: 1, Mode: "random"}, `mode "random": want global, sequential, resample, group, window:N, or interleave:K`},
		{[]int64{5}, Order{Batch: 1, Mode: "window:07"}, `mode "window:07": want window: and a number of samples, 1 or more, as in window:65536`},
		{[]int64{5}, Order{Batch: 1, Mode: "interleave:0"}, `mode "interleave:0": want interleave: and a number of shards, 1 to 1099511627776, as in interleave:64`},
		{[]int64{5}, Order{Batch: 1, Mode: "interleave:1099511627777"}, `mode "interleave:1099511627777": want interleave: and a number of shards, 1 to 1099511627776, as in interleave:64`},
		{[]int64{5}, Order{Batch: 1, Ends: "wrap"}, `ends "wrap": want drop, pad, short or even`},
		{[]int64{5}, Order{Batch: 1, Mode: Group}, "0 groups for 5 samples"},
		{[]int64{5}, Order{Batch: 1, Groups: make([]int64, 5)}, "groups are for mode group, not for global"},
	} {
		if _, err := newOrdering(row.shards, row.opts); err == nil || err.Error() != row.want {
			t.Errorf("%v, want %s", err, row.want)
		}
	}
	o := made(t, []int64{100}, Order{Batch: 10, Seed: 7})
	for _, change := range []func(s *State){
		func(s *State) { s.Order = 2 }, func(s *State) { s.Dataset = "e" }, func(s *State) { s.Mode = Sequential }, func(s *State) { s.Mode = Interleave(64) }, func(s *State) { s.Seed = 8 }, func(s *State) { s.Batch = 20 },
		func(s *State) { s.Position = 15 }, func(s *State) { s.Position = 110 }, func(s *State) { s.Position = -10 }, func(s *State) { s.Epoch = 1 << 63 },
	} {
		s := o.state("d", 0, 3)
		change(&s)
		if _, err := o.step(s, "d"); !errors.Is(err, ErrState) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// Samples gives the batches of an epoch, and begins again behind its end.
func TestSamples(t *testing.T) {
	t.Parallel()
	sizes := []int64{7, 0, 33}
	for _, mode := range []Mode{Global, Sequential, Window(9)} {
		opts := Order{Seed: 5, Batch: 8, Mode: mode}
		at, err := opts.Samples(sizes, 3)
		if err != nil {
			t.Fatal(err)
		}
		steps, err := Ordered(sizes, opts, 3, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Concat(steps...)
		if got := at([]int64{-1}, 0, 80); len(want) != 40 || !slices.Equal(got, slices.Concat([]int64{-1}, want, want)) {
			t.Errorf("%s: %d, want %d twice", mode, got, want)
		}
	}
	if at, err := (Order{Batch: 8}).Samples(nil, 0); err == nil || at != nil {
		t.Error("an order of no samples")
	}
}
