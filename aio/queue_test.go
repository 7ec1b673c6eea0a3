package aio

import (
	"math/rand/v2"
	"testing"
)

// submits notes the size of each submission.
type submits struct {
	*sim
	sizes  []int
	waited int // requests in flight when the reader first waited
}

func (k *submits) submit(reqs []request) (int, error) {
	k.sizes = append(k.sizes, len(reqs))
	return k.sim.submit(reqs)
}

func (k *submits) getevents(min int, events []event) (int, error) {
	if k.waited == 0 {
		k.waited = len(k.inflight)
	}
	return k.sim.getevents(min, events)
}

// A batch is submitted a few requests at a time, so that the device has work while the others are prepared, and the whole
// depth is in flight before the reader waits.
func TestSubmitInGroups(t *testing.T) {
	t.Parallel()
	const depth = 5*maxSubmit + 3
	k := &submits{sim: &sim{rng: rand.New(rand.NewPCG(1, 1)), data: make([]byte, depth<<16)}}
	r, err := newReader(Options{Depth: depth, BlockSize: pageSize}, k)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f := &File{path: "sim", size: int64(len(k.data)), align: pageSize}
	reqs := make([]Request, depth)
	for i := range reqs {
		reqs[i] = Request{File: f, Off: int64(i) << 16, Buf: make([]byte, 300)}
	}
	if err := r.ReadBatch(t.Context(), reqs); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, n := range k.sizes {
		if sum += n; n > maxSubmit {
			t.Errorf("one submission had %d requests, more than %d", n, maxSubmit)
		}
	}
	if k.waited != depth {
		t.Errorf("the reader waited with %d requests in flight, want %d", k.waited, depth)
	}
	if want := depth/maxSubmit + 1; len(k.sizes) != want || sum != depth {
		t.Errorf("%d requests in %d submissions, want %d in %d", sum, len(k.sizes), depth, want)
	}
}
