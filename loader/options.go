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

// maxPrefetch and maxReaders limit allocations that depend only on options.
const (
	maxPrefetch = 1 << 16
	maxReaders  = 1 << 10
)

// Options control a [Loader]. Only Order.Batch is required.
type Options struct {
	Order Order // Batch counts the samples of all ranks together

	Rank, World int    // this process is Rank, from 0, of World; World 0 is 1
	Epoch       uint64 // first epoch, at most 2⁶³-1

	// State is where to resume; Epoch is then ignored. Rank and World may differ from the earlier run. Order.Ends and
	// Order.Groups, which a state does not have, must not. At the end of an epoch Batches yields nothing
	// until SetEpoch begins the next one.
	State *State

	Prefetch int   // batches in memory in addition to the one of the loop; 0: 4
	Memory   int64 // limit on the bytes of all batches in memory; a larger batch is read alone. 0: no limit
	Readers  int   // batches read at once; 0: 2, at most Prefetch

	// SkipDamaged skips damaged samples, which makes the batch smaller: see Batch.Damaged and Loader.Stats. Without it
	// the loop ends with an error that names shard, sample and byte. Damage is a wrong CRC, a truncated file or an error
	// of the device (EIO); other errors still end the loop, and so does a damaged header. Without a manifest, nothing but
	// the last sample of a file shows where it ends: its damage counts as that of the header.
	SkipDamaged bool

	Fields   []string // for Batch.Field; a sample that lacks one of them is an error
	Encoding string   // of the records of files without a manifest, and of raw records, as in encode.Options
	Keys     bool     // set Batch.Keys: takes memory for all keys and 8 bytes a sample

	// Cache is the directory where samples of datasets in object stores are kept, up to CacheSize bytes of shards, of all
	// datasets; 0: as many as there is room for. Nothing is removed for others. Credentials are found as the program does.
	Cache     string
	CacheSize int64
	Warn      func(text string) // is told what cannot be kept, concurrently; nil: nobody

	Record record.Options // which files are accepted, and how they are read
}

// withDefaults sets defaults for zero fields and checks the others, except Order.
func (o Options) withDefaults() (Options, error) {
	o.World = cmp.Or(o.World, 1)
	o.Prefetch = cmp.Or(o.Prefetch, defaultPrefetch)
	o.Readers = min(cmp.Or(o.Readers, defaultReaders), max(1, o.Prefetch))
	switch {
	case o.World < 1 || o.Rank < 0 || o.Rank >= o.World:
		return o, fmt.Errorf("rank %d of %d: want 0 to %d", o.Rank, o.World, max(0, o.World-1))
	case o.Epoch > math.MaxInt64:
		return o, errEpoch(o.Epoch, math.MaxInt64)
	case o.Prefetch < 1 || o.Prefetch > maxPrefetch:
		return o, fmt.Errorf("prefetch %d batches: want 1 to %d", o.Prefetch, maxPrefetch)
	case o.Readers < 1 || o.Readers > maxReaders:
		return o, fmt.Errorf("%d readers: want 1 to %d", o.Readers, maxReaders)
	case o.Memory < 0:
		return o, fmt.Errorf("memory of %d bytes: want 0 or more", o.Memory)
	}
	o.Memory = cmp.Or(o.Memory, math.MaxInt64)
	return o, nil
}

func errEpoch(n uint64, last int64) error { return fmt.Errorf("epoch %d: want 0 to %d", n, last) }
