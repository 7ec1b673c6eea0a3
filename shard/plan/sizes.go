package plan

import (
	"cmp"
	"errors"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/internal/place"
)

// FFRecord's rule for shard sizes, of its guide to conversion: every file has at least this size, and, that being met, there
// are as many files as possible up to this number.
const (
	defaultMinShardSize = 256 << 20 // bytes
	defaultMaxShards    = 200
)

// errSizes reports sizes that contradict each other or the dataset.
var errSizes = errors.New("shard sizes clash")

// Sizes determine the number of shards. The zero value is FFRecord's rule.
type Sizes struct {
	Shards    int   // number of shards; 0: ShardSize decides
	ShardSize int64 // wanted average shard size in bytes; 0: FFRecord's rule decides
	Min       int64 // smallest average size, bytes; 0: 256 MiB, or none if Shards or ShardSize is set
	Max       int   // largest number of shards; 0: 200, or no limit if Shards or ShardSize is set

	// MaxSamples is for [Even]. If it is not 0, a file ends after that many samples, or with the sample that brings its
	// cost to ShardSize, if that is set. With Shards it is an upper limit for every file.
	MaxSamples int64
}

// sizesClash returns an error that wraps errSizes.
func sizesClash(format string, args ...any) error {
	return place.Options("%w: "+format, append([]any{errSizes}, args...)...)
}

// count returns the number of shards for samples of total bytes.
func (s Sizes) count(total, samples int64) (int64, error) {
	for _, f := range []struct {
		option string
		n      int64
	}{{"option shards", int64(s.Shards)}, {"option shard-size", s.ShardSize}, {"option min-shard-size", s.Min}, {"option max-shards", int64(s.Max)}} {
		if f.n < 0 {
			return 0, sizesClash("%s %d is negative", f.option, f.n)
		}
	}
	if s.Shards > 0 && s.ShardSize > 0 {
		return 0, sizesClash("give option shards or option shard-size, not both")
	}
	if s.ShardSize > 0 && s.ShardSize < s.Min {
		return 0, sizesClash("option shard-size %s is below option min-shard-size=%s", BytesText(s.ShardSize), BytesText(s.Min))
	}
	if s.Max > 0 && s.Shards > s.Max {
		return 0, sizesClash("option shards %d is above option max-shards=%d", s.Shards, s.Max)
	}
	if int64(s.Shards) > samples {
		return 0, sizesClash("option shards %d is above the number of samples, %d", s.Shards, samples)
	}
	var n int64
	switch {
	case s.Shards > 0:
		n = int64(s.Shards)
		if total/n < s.Min {
			return 0, sizesClash("option shards %d makes shards of %s, below option min-shard-size=%s", n, BytesText(total/n), BytesText(s.Min))
		}
	case s.ShardSize > 0:
		n = max(1, (total+s.ShardSize/2)/s.ShardSize)
		if s.Max > 0 && n > int64(s.Max) {
			return 0, sizesClash("option shard-size %s makes %d shards, above option max-shards=%d", BytesText(s.ShardSize), n, s.Max)
		}
		if s.Min > 0 {
			n = min(n, max(1, total/s.Min))
		}
	default:
		least, most := s.Min, int64(s.Max)
		least = cmp.Or(least, defaultMinShardSize)
		most = cmp.Or(most, defaultMaxShards)
		n = min(max(1, total/least), most)
	}
	return min(n, samples), nil
}

// BytesText returns a size for people: 256 MiB.
func BytesText(n int64) string { return humanize.IBytes(uint64(n)) }
