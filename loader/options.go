package loader

import (
	"cmp"
	"fmt"
	"math"

	"github.com/ffconvert/ffconvert/record"
)

// Defaults of Options.
const (
	defaultPrefetch = 4
	defaultReaders  = 2 // one waits for the device while the other compares CRCs
)

// maxPrefetch and maxReaders bound allocations before anything is read.
const (
	maxPrefetch = 1 << 16
	maxReaders  = 1 << 10
)

// Options control a [Loader]. All but Order.Batch may be left out.
type Options struct {
	Order Order // Batch counts the samples of all ranks together

	Rank, World int    // this process is Rank, from 0, of World; World 0 is 1
	Epoch       uint64 // where to begin, at most 2⁶³-1
	State       *State // where to go on; Epoch does not count then. Rank and World may differ from the run before;
	// Order.Ends and Order.Groups, which a state does not have, must not. At the end of an epoch Batches yields nothing
	// before SetEpoch begins the next one

	Prefetch int   // batches in memory beside the one that the loop has; 0: defaultPrefetch
	Memory   int64 // most bytes of all batches in memory; one that is larger is read alone. 0: only Prefetch counts
	Readers  int   // batches that are read at once; 0: DefaultReaders, Prefetch at most

	// SkipDamaged leaves a damaged sample out of its batch, which is smaller then: see Batch.Damaged and Stats.Skipped.
	// Otherwise the loop ends with an error that names shard, sample and byte. Damage is a wrong CRC, a file that was cut,
	// or an error of the device (EIO); all else is an error still. The last sample of each shard is read by Open, as it
	// alone shows where the file ends: its damage is an error of Open.
	SkipDamaged bool

	Fields   []string // of each sample, for Batch.Field; a sample without one of them is an error
	Encoding string   // of the records of other people's files, and of raw ones, as in encode.Options
	Keys     bool     // Batch.Keys is wanted: takes the length of all keys and 8 bytes a sample of memory

	Record record.Options // which files are accepted, and how they are read
}

// withDefaults fills in the zero fields and checks the others. Package order checks Order.
func (o Options) withDefaults() (Options, error) {
	o.World = cmp.Or(o.World, 1)
	o.Prefetch = cmp.Or(o.Prefetch, defaultPrefetch)
	o.Readers = min(cmp.Or(o.Readers, defaultReaders), max(1, o.Prefetch))
	switch {
	case o.World < 1 || o.Rank < 0 || o.Rank >= o.World:
		return o, fmt.Errorf("rank %d of %d: want 0 to %d", o.Rank, o.World, max(0, o.World-1))
	case o.Epoch > math.MaxInt64:
		return o, errEpoch(o.Epoch)
	case o.Prefetch < 1 || o.Prefetch > maxPrefetch:
		return o, fmt.Errorf("prefetch %d batches: want 1 to %d", o.Prefetch, maxPrefetch)
	case o.Readers < 1 || o.Readers > maxReaders:
		return o, fmt.Errorf("%d readers: want 1 to %d", o.Readers, maxReaders)
	case o.Memory < 0:
		return o, fmt.Errorf("memory of %d bytes: want 0 or more", o.Memory)
	}
	if o.Memory == 0 {
		o.Memory = math.MaxInt64
	}
	return o, nil
}

func errEpoch(n uint64) error { return fmt.Errorf("epoch %d: want 0 to %d", n, int64(math.MaxInt64)) }
