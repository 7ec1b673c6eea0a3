package loader

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
)

// A State is the position of a run: between two steps of an epoch. It is the same for every rank.
type State struct {
	Order    int    `json:"order"`   // version of docs/order.md, not Options.Order
	Dataset  string `json:"dataset"` // digest of the shards: see docs/order.md
	Mode     Mode   `json:"mode"`
	Seed     uint64 `json:"seed"`
	Epoch    uint64 `json:"epoch"`
	Position int64  `json:"position"` // number of the next step times Batch
	Batch    int64  `json:"batch"`

	// Of mixtures, whose Order is 2.
	Steps int64  `json:"steps,omitempty"` // of an epoch
	Mix   string `json:"mix,omitempty"`   // proportions up to here, as in Order.Mix
}

// ErrState reports a state of another dataset or order.
var ErrState = place.New(place.Refused, "the state is not of this run")

// state returns the state before a step of an epoch, 0 ≤ step ≤ Steps.
func (o *ordering) state(dataset string, epoch uint64, step int64) State {
	s := State{Order: version, Dataset: dataset, Mode: o.opts.Mode, Seed: o.opts.Seed, Epoch: epoch, Position: step * o.opts.Batch, Batch: o.opts.Batch}
	if o.mix != nil {
		s.Order, s.Steps = versionMixed, o.steps()
		s.Mix = o.mix.upTo(int64(epoch)*s.Steps + step)
	}
	return s
}

// step returns the next step; at the end of the epoch that is Steps. It returns an error if the state is of another
// dataset or order; the number of ranks may differ.
func (o *ordering) step(s State, dataset string) (step int64, err error) {
	var why error
	like := o.state(dataset, 0, 0)
	switch {
	case s.Order != like.Order:
		why = fmt.Errorf("it is of order %d, this one is of %d: docs/order.md", s.Order, like.Order)
	case s.Dataset != dataset:
		why = fmt.Errorf("its dataset is %s, this one is %s: samples were added, removed or changed, or shards are in another order", s.Dataset, dataset)
	case s.Mode != o.opts.Mode:
		why = fmt.Errorf("its mode is %s, not %s", s.Mode, o.opts.Mode)
	case s.Seed != o.opts.Seed:
		why = fmt.Errorf("its seed is %d, not %d", s.Seed, o.opts.Seed)
	case s.Batch != o.opts.Batch:
		why = fmt.Errorf("its batch has %d samples on all ranks, not %d", s.Batch, o.opts.Batch)
	case s.Epoch > uint64(o.lastEpoch()):
		why = errors.New("its epoch is too large")
	case s.Steps != like.Steps:
		why = fmt.Errorf("its epochs have %d steps, not %d", s.Steps, like.Steps)
	case s.Position < 0 || s.Position%s.Batch != 0 || s.Position/s.Batch > o.steps():
		why = fmt.Errorf("its position %d is none between batches of %d in %d samples", s.Position, s.Batch, o.n)
	default:
		step = s.Position / s.Batch
		now := o.state(dataset, s.Epoch, step)
		if s.Mix == now.Mix {
			return step, nil
		}
		why = fmt.Errorf("its mix is %s, not %s", s.Mix, now.Mix)
	}
	return 0, fmt.Errorf("%w: %w", ErrState, why)
}

// digestOf returns the digest of a dataset, from the CRC-32 of bytes 4 to 12+12·Samples of each shard (its HeaderCRC).
// It depends on all samples, but not on the place of the files.
func digestOf(shards []record.FileInfo) string {
	h := sha256.New()
	fmt.Fprintln(h, "ffconvert dataset 1")
	for _, s := range shards {
		fmt.Fprintf(h, "%d %08x %d\n", s.Samples, s.HeaderCRC, s.Size)
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:32]
}

// digestOfAll returns the digest of datasets behind one another.
func digestOfAll(sets [][]int64, digests []string) string {
	h := sha256.New()
	fmt.Fprintln(h, "ffconvert concatenation 1")
	for k, shards := range sets {
		n := int64(0)
		for _, samples := range shards {
			n += samples
		}
		fmt.Fprintf(h, "%d %s\n", n, digests[k])
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:32]
}
