package loader

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Versions of docs/order.md that this package implements.
const (
	version      = 1
	versionMixed = 2 // of mixtures
)

// A Mode determines the order of samples. The texts of modes [Window] and [Interleave] end with their number.
type Mode string

const (
	Global     Mode = "global"     // one permutation of all samples
	Sequential Mode = "sequential" // the order of the dataset
	Resample   Mode = "resample"   // samples drawn with repetitions
	Group      Mode = "group"      // samples of one group, or of nearly one length, share a batch
)

// Window returns the mode that permutes shards, and then samples within windows of n samples.
func Window(n int64) Mode { return Mode(fmt.Sprintf("window:%d", n)) }

// Interleave returns the mode that permutes shards, reads n of them side by side, and permutes samples within windows
// of 256 samples of each.
func Interleave(n int64) Mode { return Mode(fmt.Sprintf("interleave:%d", n)) }

// laneRows is the number of samples that a window of mode [Interleave] has of each lane.
const laneRows = 256

// lanes returns the number of lanes, which is 1 in mode [Window], and the size of a window; 0 and 0 for another mode.
func (m Mode) lanes() (lanes, window uint64, err error) {
	kind, text, _ := strings.Cut(string(m), ":")
	n, err := strconv.ParseInt(text, 10, 64)
	valid := err == nil && n >= 1 && strconv.FormatInt(n, 10) == text
	switch {
	case kind == "window" && valid:
		return 1, uint64(n), nil
	case kind == "window":
		return 0, 0, fmt.Errorf("mode %q: want window: and a number of samples, 1 or more, as in window:65536", m)
	case kind == "interleave" && valid && n <= maxLanes:
		return uint64(n), laneRows * uint64(n), nil
	case kind == "interleave":
		return 0, 0, fmt.Errorf("mode %q: want interleave: and a number of shards, 1 to %d, as in interleave:64", m, int64(maxLanes))
	}
	return 0, 0, nil
}

// Ends determines what happens to the samples at the end of an epoch that do not fill a batch.
type Ends string

const (
	Drop  Ends = "drop"  // they are skipped; the default
	Pad   Ends = "pad"   // the batch is filled up with the first samples of the epoch
	Short Ends = "short" // the batch is short; some ranks may get no sample
	Even  Ends = "even"  // the batch is short, and filled up with the first samples of the epoch until all ranks get equally many
)

// maxSamples, maxBatch and maxLanes prevent overflow.
const (
	maxSamples = 1 << 48
	maxBatch   = 1 << 40
	maxLanes   = 1 << 40
)

// An Order determines the order of samples, together with the dataset and the epoch.
type Order struct {
	Seed   uint64  // at most 2⁶³-1
	Batch  int64   // samples of a step, on all ranks together; 1 or more
	Mode   Mode    // "": Global
	Ends   Ends    // "": Drop
	Groups []int64 // group or length of each sample, only for mode Group

	// Mix takes samples of several datasets in proportions, as "7:3" or "0.7:0.3", a number for each, and in others from
	// steps on, as "7:3,4000=1:1"; steps are counted from the start of the run over all epochs. Mode is that of each
	// dataset, and not Group; Ends is for no mixture. Steps is the number of steps that an epoch has; 0: as many as all
	// samples fill.
	Mix   string
	Steps int64
}

// An ordering is the order of one dataset. It is a pure function without random state, so that a run resumes anywhere,
// with any number of ranks. Only mode [Group] takes memory for each sample. It may be used concurrently.
type ordering struct {
	opts   Order
	n      uint64
	window uint64   // samples of a window; 0 in modes without
	lanes  uint64   // lanes of a window
	sizes  []uint64 // number of samples of each shard
	mix    *mixture // nil: of one dataset; else n is the number of samples of an epoch
}

// newOrdering returns the order of a dataset. shards has the number of samples of each shard, in order.
func newOrdering(shards []int64, opts Order) (*ordering, error) {
	o := &ordering{opts: opts}
	o.opts.Mode = cmp.Or(o.opts.Mode, Global)
	o.opts.Ends = cmp.Or(o.opts.Ends, Drop)
	for _, n := range shards {
		if n < 0 || n > maxSamples-int64(o.n) {
			return nil, fmt.Errorf("a shard of %d samples: want 0 or more, %d at most in all", n, int64(maxSamples))
		}
		o.n += uint64(n)
		o.sizes = append(o.sizes, uint64(n))
	}
	var err error
	o.lanes, o.window, err = o.opts.Mode.lanes()
	switch o.opts.Mode {
	case Global, Sequential, Resample, Group:
	default:
		if o.window == 0 && err == nil {
			err = fmt.Errorf("mode %q: want global, sequential, resample, group, window:N, or interleave:K", opts.Mode)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case o.n == 0:
		return nil, errors.New("the dataset has no samples")
	case opts.Batch < 1 || opts.Batch > maxBatch:
		return nil, fmt.Errorf("a batch of %d samples: want 1 to %d", opts.Batch, int64(maxBatch))
	case opts.Seed > math.MaxInt64:
		return nil, fmt.Errorf("seed %d: want 0 to %d", opts.Seed, int64(math.MaxInt64))
	case !slices.Contains([]Ends{Drop, Pad, Short, Even}, o.opts.Ends):
		return nil, fmt.Errorf("ends %q: want drop, pad, short or even", opts.Ends)
	case o.opts.Mode == Group && uint64(len(opts.Groups)) != o.n:
		return nil, fmt.Errorf("%d groups for %d samples", len(opts.Groups), o.n)
	case o.opts.Mode != Group && opts.Groups != nil:
		return nil, fmt.Errorf("groups are for mode group, not for %s", o.opts.Mode)
	}
	return o, nil
}

// newMixedOrdering returns the order of several datasets, which Order.Mix may mix. sets has the number of samples of each shard
// of each.
func newMixedOrdering(sets [][]int64, opts Order) (*ordering, error) {
	o, err := newOrdering(slices.Concat(sets...), opts)
	if err != nil || opts.Mix == "" && opts.Steps == 0 {
		return o, err
	}
	switch {
	case opts.Mix == "":
		return nil, errors.New("steps are for a mixture")
	case o.opts.Mode == Group:
		return nil, errors.New("mode group is for no mixture")
	case o.opts.Ends != Drop:
		return nil, fmt.Errorf("ends %q: a mixture has no end", o.opts.Ends)
	}
	steps := cmp.Or(opts.Steps, int64(o.n)/opts.Batch)
	if steps < 1 || steps > maxPosition/opts.Batch {
		return nil, fmt.Errorf("%d steps in an epoch of a mixture: want 1 to %d", steps, maxPosition/opts.Batch)
	}
	o.n = uint64(steps * opts.Batch)
	o.mix, err = newMixture(sets, o.opts)
	return o, err
}

// Samples returns a function that appends the samples at positions lo to hi of an epoch to dst. Positions past its end
// begin again with the first. shards has the number of samples of each shard, in order. The function may be called
// concurrently.
func (o Order) Samples(shards []int64, epoch uint64) (func(dst []int64, lo, hi int64) []int64, error) {
	order, err := newMixedOrdering([][]int64{shards}, o)
	if err != nil {
		return nil, err
	}
	return order.epoch(epoch).add, nil
}

// lastEpoch returns the largest number of an epoch.
func (o *ordering) lastEpoch() int64 {
	if o.mix != nil {
		return maxPosition/int64(o.n) - 1
	}
	return math.MaxInt64
}

func (o *ordering) size() int64 { return int64(o.n) }

// steps returns the number of steps of an epoch: 0 if the samples do not fill a batch and Ends is Drop.
func (o *ordering) steps() int64 {
	steps := int64(o.n) / o.opts.Batch
	if o.opts.Ends != Drop && int64(o.n)%o.opts.Batch != 0 {
		steps++
	}
	return steps
}
