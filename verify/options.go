package verify

import (
	"cmp"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/record"
)

// Options say how to verify. The zero value verifies with AIO where the system has it.
type Options struct {
	AIO      aio.Options    // its Depth is the queue depth of all workers together
	Workers  int            // shards read at once; default: half the CPUs, 4 at the most
	Record   record.Options // what a shard may be
	Progress func(samples, bytes int64)
}

// DefaultDepth is the number of reads kept in flight, all workers together.
const DefaultDepth = 32

// Share returns how one of so many workers reads, so that all of them together keep to
// o.Depth, or to DefaultDepth where that is 0.
func Share(o aio.Options, workers int) aio.Options {
	o.Depth = max(1, cmp.Or(o.Depth, DefaultDepth)/workers)
	return o
}
