package record

import (
	"cmp"
	"math"

	"github.com/ffconvert/ffconvert/aio"
)

// DefaultMaxSample is what Options.MaxSample is when it is 0, bytes.
const DefaultMaxSample = 1 << 30

// How ReadBatch reads, unless Options.AIO says otherwise. docs/decisions/016-reading-batches.md has
// the measurements.
const (
	BatchDepth     = 64        // reads in flight of one call
	BatchBlockSize = 256 << 10 // bytes of one read at most
)

// Options say what a Reader or a Scanner accepts. The zero value is the strict one.
type Options struct {
	// AllowLegacy accepts a header without a checksum, as old writers left it. The structure and
	// every sample are still checked. Default: refused.
	AllowLegacy bool

	// MaxSamples is the largest number of samples a file may have; each takes 12 bytes of memory.
	// Default: the constant MaxSamples.
	MaxSamples int64

	// MaxSample is the largest sample in bytes that a Reader accepts, at Open, because Read holds
	// it whole. A Scanner holds no sample and does not ask. Default: DefaultMaxSample.
	MaxSample int64

	// AIO says how Reader.ReadBatch reads. Depth is the reads in flight of one call, default BatchDepth;
	// BlockSize the largest of them in bytes, default BatchBlockSize. Nothing else uses it.
	AIO aio.Options
}

func (o Options) batches() aio.Options {
	o.AIO.Depth = cmp.Or(o.AIO.Depth, BatchDepth)
	o.AIO.BlockSize = cmp.Or(o.AIO.BlockSize, BatchBlockSize)
	return o.AIO
}

func (o Options) maxSamples() int64 {
	if o.MaxSamples > 0 {
		return o.MaxSamples
	}
	return MaxSamples
}

func (o Options) maxSample() int64 {
	if o.MaxSample > 0 {
		return min(o.MaxSample, math.MaxInt)
	}
	return DefaultMaxSample
}
