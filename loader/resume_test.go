package loader_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/loader"
)

// TestSchedules stops and resumes runs, each time with another number of ranks. Every step has the samples that it has in a run that
// nothing stops, in the same order; none is lost, none comes twice.
func TestSchedules(t *testing.T) {
	t.Parallel()
	schedules := 1000
	if testing.Short() {
		schedules = 60
	} else {
		need.Time(t, "1,000 runs, each stopped and resumed several times")
	}
	const samples = 230
	dir := made(t, "raw:bin", 0, samples, 5)
	shards := sizes(opened(t, loader.Options{Record: light}, dir))
	for worker := range 8 { // they wait for the kernel to give up their queues more than they compute
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(19, uint64(worker)))
			for range schedules / 8 {
				s := schedule{T: t, dir: dir, seed: rng.Uint64() >> 1, rng: rng}
				s.opts = loader.Order{Seed: s.seed, Batch: 1 + rng.Int64N(64), Mode: pick(rng, loader.Global, loader.Global, loader.Window(50), loader.Interleave(3), loader.Sequential), Ends: pick(rng, loader.Drop, loader.Pad, loader.Short)}
				number := rng.Uint64N(1 << 40)
				want := ordered(t, shards, s.opts, number, 0, 1)
				got := s.run(number)
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%+v, epoch %d: %v, want %v", s.opts, number, got, want)
				}
				if s.opts.Ends != loader.Pad {
					s.once(got)
				}
			}
		})
	}
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// A schedule is one epoch in several runs.
type schedule struct {
	*testing.T
	dir  string
	seed uint64
	opts loader.Order
	rng  *rand.Rand
}

// run returns the samples of each step, on all ranks.
func (s *schedule) run(number uint64) (steps [][]int64) {
	var state *loader.State
	for {
		world := 1 + s.rng.IntN(pick(s.rng, 1, 4, 8, 8, 8, 8, 8, 64))
		stop := s.rng.Int64N(9)
		all, after, left := s.ranks(world, number, state, stop)
		steps = append(steps, all...)
		if left == 0 {
			return steps
		}
		state = after
	}
}

// ranks runs up to stop steps on all ranks from a state on. It returns their samples and the state after them, as a file has it.
func (s *schedule) ranks(world int, number uint64, from *loader.State, stop int64) (steps [][]int64, after *loader.State, left int64) {
	var saved []byte
	if from != nil {
		number = 0 // the state says which
	}
	for rank := range world {
		l, err := loader.Open([]string{s.dir}, loader.Options{Order: s.opts, Rank: rank, World: world, Epoch: number, State: from, Prefetch: 1 + s.rng.IntN(3), Record: light})
		if err != nil {
			s.Fatal(err)
		}
		state := l.State()
		at := int64(0)
		for b, err := range l.Batches(s.Context()) {
			if err != nil {
				s.Fatal(err)
			}
			if at == stop { // this one was read, and is lost by the kill
				break
			}
			compare(s, b)
			if rank == 0 {
				steps = append(steps, []int64{})
			}
			steps[at] = append(steps[at], b.Indices...)
			at++
			state = b.State
		}
		left = l.Steps() - state.Position/state.Batch
		text, err := json.Marshal(state)
		if err := errors.Join(err, l.Close()); err != nil {
			s.Fatal(err)
		}
		if rank > 0 && !bytes.Equal(text, saved) {
			s.Fatalf("the state of rank %d is %s, that of others %s", rank, text, saved)
		}
		saved = text
	}
	after = new(loader.State)
	if err := json.Unmarshal(saved, after); err != nil {
		s.Fatal(err)
	}
	return steps, after, left
}

// once fails if a sample comes twice, or one is lost that the end of the epoch does not drop.
func (s *schedule) once(steps [][]int64) {
	all := slices.Concat(steps...)
	n := len(all)
	slices.Sort(all)
	all = slices.Compact(all)
	const samples = 230
	want := samples
	if s.opts.Ends == loader.Drop {
		want -= samples % int(s.opts.Batch)
	}
	if n != want || len(all) != want {
		s.Fatalf("%+v: %d samples, %d different ones, want %d", s.opts, n, len(all), want)
	}
}

// TestResumeHere: a loop that is left is gone on with by the same loader, and a state of another run is refused.
func TestResumeHere(t *testing.T) {
	t.Parallel()
	dir := made(t, "raw:bin", 0, 100, 3)
	opts := loader.Options{Order: loader.Order{Batch: 10, Seed: 3}, World: 2, Rank: 1}
	l := opened(t, opts, dir)
	want := ordered(t, sizes(l), opts.Order, 0, 1, 2)
	var got [][]int64
	for range 4 {
		n := 0
		for b, err := range l.Batches(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if b.State != l.State() {
				t.Fatalf("a batch has the state %+v, the loader %+v", b.State, l.State())
			}
			got = append(got, slices.Clone(b.Indices))
			if n++; n == 3 {
				break
			}
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	end := l.State()
	at := func(change func(*loader.State, *loader.Options)) error {
		s, o := end, opts
		o.State = &s
		change(&s, &o)
		l, err := loader.Open([]string{dir}, o)
		if err == nil {
			defer l.Close()
			if steps := epoch(t, l); steps != nil {
				t.Errorf("at the end of an epoch %v follow", steps)
			}
		}
		return err
	}
	if err := at(func(*loader.State, *loader.Options) {}); err != nil {
		t.Errorf("the end of an epoch: %v", err)
	}
	for name, change := range map[string]func(*loader.State, *loader.Options){
		"dataset":  func(s *loader.State, _ *loader.Options) { s.Dataset = "00" },
		"position": func(s *loader.State, _ *loader.Options) { s.Position++ },
		"seed":     func(_ *loader.State, o *loader.Options) { o.Order.Seed++ },
		"batch":    func(_ *loader.State, o *loader.Options) { o.Order.Batch++ },
	} {
		if err := at(change); !errors.Is(err, loader.ErrState) {
			t.Errorf("a state of another %s: %v", name, err)
		}
	}
	madeIn(t, dir, "raw:bin", 1, 100, 3)
	if err := at(func(*loader.State, *loader.Options) {}); !errors.Is(err, loader.ErrState) {
		t.Errorf("a state of other data in the same place: %v", err)
	}
}
