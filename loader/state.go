package loader

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

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
}

// ErrState reports a state of another dataset or order.
var ErrState = place.New(place.Refused, "the state is not of this run")

// state returns the state before a step of an epoch, 0 ≤ step ≤ Steps.
func (o *ordering) state(dataset string, epoch uint64, step int64) State {
	return State{version, dataset, o.opts.Mode, o.opts.Seed, epoch, step * o.opts.Batch, o.opts.Batch}
}

// step returns the next step; at the end of the epoch that is Steps. It returns an error if the state is of another
// dataset or order; the number of ranks may differ.
func (o *ordering) step(s State, dataset string) (step int64, err error) {
	var why error
	switch {
	case s.Order != version:
		why = fmt.Errorf("it is of order %d, this program has %d", s.Order, version)
	case s.Dataset != dataset:
		why = fmt.Errorf("its dataset is %s, this one is %s: samples were added, removed or changed, or shards are in another order", s.Dataset, dataset)
	case s.Mode != o.opts.Mode:
		why = fmt.Errorf("its mode is %s, not %s", s.Mode, o.opts.Mode)
	case s.Seed != o.opts.Seed:
		why = fmt.Errorf("its seed is %d, not %d", s.Seed, o.opts.Seed)
	case s.Batch != o.opts.Batch:
		why = fmt.Errorf("its batch has %d samples on all ranks, not %d", s.Batch, o.opts.Batch)
	case s.Epoch > math.MaxInt64:
		why = errors.New("its epoch is too large")
	case s.Position < 0 || s.Position%s.Batch != 0 || s.Position/s.Batch > o.steps():
		why = fmt.Errorf("its position %d is none between batches of %d in %d samples", s.Position, s.Batch, o.n)
	default:
		return s.Position / s.Batch, nil
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
