package loader

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/record"
)

var update = flag.Bool("update", false, "write testdata/order/vectors.json anew: only for a new version of the order")

// A vector is a piece of an epoch.
type vector struct {
	Shards  []int64   `json:"shards,omitempty"`
	Sets    [][]int64 `json:"sets,omitempty"` // of a mixture, in place of shards
	Mix     string    `json:"mix,omitempty"`
	Each    int64     `json:"epoch_steps,omitempty"`
	Seed    uint64    `json:"seed"`
	Epoch   uint64    `json:"epoch"`
	Batch   int64     `json:"batch"`
	Mode    Mode      `json:"mode"`
	Ends    Ends      `json:"ends"`
	Groups  []int64   `json:"groups,omitempty"`
	Steps   int64     `json:"steps"`
	From    int64     `json:"from"`    // position of the first of samples
	Samples []int64   `json:"samples"` // of positions from, from+1, …
	Step    int64     `json:"step"`
	World   int       `json:"world"`
	Ranks   [][]int64 `json:"ranks"` // of the step, by rank
}

// vectorsOf returns the vectors that the file has, without what is computed.
func vectorsOf() []vector {
	groups := make([]int64, 90)
	for i := range groups {
		groups[i] = int64(i * i % 5)
	}
	var all []vector
	for _, n := range []int64{1, 2, 3, 10, 255, 256, 257, 1000, 65537, 1e6, 1<<31 + 11, 1e9, 1 << 40} {
		for i, seed := range []uint64{0, 7, 1<<63 - 1} {
			epoch := []uint64{0, 3, 1<<63 - 1}[i]
			all = append(all, vector{Shards: []int64{n}, Seed: seed, Epoch: epoch, Batch: 8, Mode: Global, Ends: Pad, From: n / 3, Step: 0, World: 3})
		}
	}
	for _, mode := range []Mode{Global, Sequential, Resample, Group, Window(1), Window(16), Window(50), Window(1000)} {
		for i, ends := range []Ends{Drop, Pad, Short} {
			v := vector{Shards: []int64{20, 0, 37, 1, 32}, Seed: 11, Epoch: uint64(i), Batch: 16, Mode: mode, Ends: ends, From: 40, World: 4}
			if v.Step = 4; ends != Drop {
				v.Step = 5
			}
			if mode == Group {
				v.Groups = groups
			}
			all = append(all, v)
		}
	}
	for _, world := range []int{1, 4, 7, 16} { // 10 positions are left for the last step of 16
		all = append(all, vector{Shards: []int64{90}, Seed: 3, Epoch: 1, Batch: 16, Mode: Global, Ends: Even, From: 40, Step: 5, World: world})
	}
	all = append(all,
		vector{Shards: []int64{1e9, 3e8, 7}, Seed: 5, Epoch: 9, Batch: 1024, Mode: Window(1 << 20), Ends: Drop, From: 1e9 - 5, Step: 1000, World: 64},
		vector{Shards: []int64{1 << 35}, Seed: 5, Epoch: 9, Batch: 64, Mode: Resample, Ends: Drop, From: 1 << 34, Step: 1000, World: 7})
	for i, mode := range []Mode{Interleave(1), Interleave(3), Interleave(7), Interleave(64), Interleave(maxLanes)} {
		for k, ends := range []Ends{Drop, Pad, Short, Even} { // 767 is where a window of 3 lanes ends
			v := vector{Shards: []int64{300, 0, 1, 1700, 32}, Seed: 11, Epoch: uint64(i), Batch: 96, Mode: mode, Ends: ends, From: int64(767 + 400*k), Step: 20, World: 7}
			if ends != Drop {
				v.Step = 21
			}
			all = append(all, v)
		}
	}
	for i, mix := range []string{"7:3", "0.7:0.3,5=1:1", "0.25:1,1=0:1,30=65535:1"} {
		for k, mode := range []Mode{Global, Sequential, Resample, Window(16), Interleave(2)} {
			all = append(all, vector{Sets: [][]int64{{20, 7, 3}, {50, 0, 1}}, Mix: mix, Seed: uint64(5 * k), Epoch: uint64(i + k), Batch: 12, Each: int64(9 * i), Mode: mode, Ends: Drop, From: 20, Step: 4, World: 5})
		}
	}
	all = append(all,
		vector{Sets: [][]int64{{1}, {2}, {3}, {1e9}}, Mix: "1:10:100:1000", Seed: 1<<63 - 1, Epoch: 1 << 20, Batch: 1024, Each: 1 << 31, Mode: Global, Ends: Drop, From: 1 << 40, Step: 1<<31 - 1, World: 3},
		vector{Sets: [][]int64{{1e6}, {1 << 40}, {77}}, Mix: "0.5:0.3:0.2,1000000=0.1:0.1:0.8", Seed: 3, Epoch: 1, Batch: 64, Each: 999_999, Mode: Window(4096), Ends: Drop, From: 40, Step: 1, World: 1})
	return append(all,
		vector{Shards: []int64{1}, Batch: 2, Mode: Interleave(2), Ends: Pad, World: 2},
		vector{Shards: []int64{1e9, 3e8, 7}, Seed: 5, Epoch: 9, Batch: 1024, Mode: Interleave(64), Ends: Drop, From: 1e9 - 5, Step: 1000, World: 64},
		vector{Shards: []int64{1 << 47, 1<<47 - 5}, Seed: 1<<63 - 1, Epoch: 1<<63 - 1, Batch: 16, Mode: Interleave(1000), Ends: Drop, From: 1<<48 - 40, World: 3})
}

func (v *vector) compute(t *testing.T) {
	sets := v.Sets
	if sets == nil {
		sets = [][]int64{v.Shards}
	}
	o, err := newMixedOrdering(sets, Order{Seed: v.Seed, Batch: v.Batch, Mode: v.Mode, Ends: v.Ends, Groups: v.Groups, Mix: v.Mix, Steps: v.Each})
	if err != nil {
		t.Fatal(err)
	}
	e := o.epoch(v.Epoch)
	v.Steps = o.steps()
	v.Samples = e.add(nil, v.From, min(v.From+32, o.size()))
	v.Ranks = nil
	for rank := range v.World {
		v.Ranks = append(v.Ranks, append([]int64{}, e.batch(nil, v.Step, rank, v.World)...))
	}
}

// A version of the order never changes.
func TestVectors(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "testdata", "order", "vectors.json")
	if *update {
		all := vectorsOf()
		text := []byte("[\n")
		for i := range all {
			all[i].compute(t)
			line, err := json.Marshal(all[i])
			if err != nil {
				t.Fatal(err)
			}
			if text = append(text, line...); i < len(all)-1 {
				text = append(text, ',')
			}
			text = append(text, '\n')
		}
		if err := os.WriteFile(path, append(text, "]\n"...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	if err := json.Unmarshal(text, &all); err != nil || len(all) < 90 {
		t.Fatalf("%d vectors: %v", len(all), err)
	}
	for _, want := range all {
		got := want
		got.compute(t)
		if got.Steps != want.Steps || !slices.Equal(got.Samples, want.Samples) || !slices.EqualFunc(got.Ranks, want.Ranks, slices.Equal) {
			t.Errorf("%s of %d, seed %d, epoch %d: %+v, want %+v", want.Mode, want.Shards, want.Seed, want.Epoch, got, want)
		}
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	// printf 'ffconvert dataset 1\n3 deadbeef 1000\n0 00000001 12\n' | sha256sum | cut -c-32
	if got, want := digestOf([]record.FileInfo{{Samples: 3, HeaderCRC: 0xdeadbeef, Size: 1000}, {HeaderCRC: 1, Size: 12}}), "30ae639361e9e2ff67137b9b60bbac91"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
