package record

import "math"

// DefaultMaxSample is what Options.MaxSample is when it is 0, bytes.
const DefaultMaxSample = 1 << 30

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
