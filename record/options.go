package record

import (
	"cmp"
	"math"

	"github.com/ffconvert/ffconvert/aio"
)

// DefaultMaxSample is the default of Options.MaxSample, in bytes.
const DefaultMaxSample = 1 << 30

// Defaults of Options.AIO. docs/decisions/020-training.md has the measurements.
const (
	BatchDepth     = 64        // reads in flight per call of ReadBatch
	BatchBlockSize = 256 << 10 // largest read in bytes
)

// Options control which files a Reader or a scanner accepts. The zero value is the strictest.
type Options struct {
	// AllowLegacy accepts a header without a checksum, as old writers made it. The structure and
	// the CRC of every sample are still checked.
	AllowLegacy bool

	// MaxSamples is the most samples that a file may have; each takes 12 bytes of a header, which a scanner holds in
	// memory. 0 means the constant MaxSamples.
	MaxSamples int64

	// MaxSample is the largest sample in bytes that a file of a Reader may have, because Read holds a whole
	// sample. A scanner ignores it. 0 means DefaultMaxSample.
	MaxSample int64

	// AIO is used by Reader.ReadBatch only. Depth is the number of reads in flight per call, 0
	// means BatchDepth. BlockSize is the largest read in bytes, 0 means BatchBlockSize. With the
	// backend AIO no sample is read from the page cache.
	AIO aio.Options
}

// batches returns the options for ReadBatch, with defaults.
func (o Options) batches() aio.Options {
	o.AIO.Depth = cmp.Or(o.AIO.Depth, BatchDepth)
	o.AIO.BlockSize = cmp.Or(o.AIO.BlockSize, BatchBlockSize)
	return o.AIO
}

func (o Options) maxSamples() int64 {
	if o.MaxSamples > 0 {
		return min(o.MaxSamples, (math.MaxInt-headSize)/rowSize) // a header is one piece of memory
	}
	return MaxSamples
}

func (o Options) maxSample() int64 {
	if o.MaxSample > 0 {
		return min(o.MaxSample, math.MaxInt)
	}
	return DefaultMaxSample
}
