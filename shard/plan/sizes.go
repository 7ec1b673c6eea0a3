package plan

import (
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"
)

// FFRecord's own rule for shard sizes: every file at least this large and, that being
// met, as many files as possible up to this many.
const (
	DefaultMinShardSize = 256 << 20 // bytes
	DefaultMaxShards    = 200
)

// ErrSizes says that the wished sizes contradict each other or the dataset. It is a
// mistake of the command line.
var ErrSizes = errors.New("shard sizes clash")

// Sizes say how many shards to make. The zero value is FFRecord's own rule.
type Sizes struct {
	Shards    int   // this many, exactly; 0: by size
	ShardSize int64 // as many as come nearest to this size, bytes; 0: by FFRecord's rule
	Min       int64 // no smaller than this on average, bytes; default 256 MiB, or none where Shards or ShardSize is set
	Max       int   // most shards; default 200, or unlimited where Shards or ShardSize is set
}

// count returns the number of shards for samples of total bytes.
func (s Sizes) count(total, samples int64) (int64, error) {
	for _, f := range []struct {
		flag string
		n    int64
	}{{"--shards", int64(s.Shards)}, {"--shard-size", s.ShardSize}, {"--min-shard-size", s.Min}, {"--max-shards", int64(s.Max)}} {
		if f.n < 0 {
			return 0, fmt.Errorf("%w: %s %d is negative", ErrSizes, f.flag, f.n)
		}
	}
	if s.Shards > 0 && s.ShardSize > 0 {
		return 0, fmt.Errorf("%w: give --shards or --shard-size, not both", ErrSizes)
	}
	if s.ShardSize > 0 && s.ShardSize < s.Min {
		return 0, fmt.Errorf("%w: --shard-size %s is below --min-shard-size %s", ErrSizes, BytesText(s.ShardSize), BytesText(s.Min))
	}
	if s.Max > 0 && s.Shards > s.Max {
		return 0, fmt.Errorf("%w: --shards %d is above --max-shards %d", ErrSizes, s.Shards, s.Max)
	}
	if int64(s.Shards) > samples {
		return 0, fmt.Errorf("%w: --shards %d, but there are %d samples", ErrSizes, s.Shards, samples)
	}
	var n int64
	switch {
	case s.Shards > 0:
		n = int64(s.Shards)
		if total/n < s.Min {
			return 0, fmt.Errorf("%w: --shards %d makes shards of %s, below --min-shard-size %s", ErrSizes, n, BytesText(total/n), BytesText(s.Min))
		}
	case s.ShardSize > 0:
		n = max(1, (total+s.ShardSize/2)/s.ShardSize)
		if s.Max > 0 && n > int64(s.Max) {
			return 0, fmt.Errorf("%w: --shard-size %s makes %d shards, above --max-shards %d", ErrSizes, BytesText(s.ShardSize), n, s.Max)
		}
		if s.Min > 0 {
			n = min(n, max(1, total/s.Min))
		}
	default:
		least, most := s.Min, int64(s.Max)
		if least == 0 {
			least = DefaultMinShardSize
		}
		if most == 0 {
			most = DefaultMaxShards
		}
		n = min(max(1, total/least), most)
	}
	return min(n, samples), nil
}

func BytesText(n int64) string { return humanize.IBytes(uint64(n)) }
