package convert

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// checkQuota returns an error if the parts of one shard need more than the quota of the cache. found
// has one input for each part. Only stored sizes count: decompressed sizes are not known.
func checkQuota(p *plan.Plan, found []input.Name, quota int64) error {
	if quota <= 0 {
		return nil
	}
	for i := range p.Shards {
		if need := toFetchFor(p, found, i); need > quota {
			return advise(MoreRoomForOne, &place.Error{Where: p.Shards[i].Name, Off: -1,
				Err: fmt.Errorf("%w: its parts are %s bytes to fetch, and the cache has %s", stage.ErrQuota, humanize.Comma(need), humanize.Comma(quota))})
		}
	}
	return nil
}

// allAtOnce adds advice to an error that the cache is too small for all parts.
func (c *Conversion) allAtOnce(err error) error {
	e, ok := errors.AsType[*place.Error](err)
	if !ok || !errors.Is(err, stage.ErrQuota) || c.directories() != nil {
		return err
	}
	e.Hint = ""
	return advise(MoreRoomForAll, err)
}

// toFetch returns the sum of the known sizes of remote inputs.
func toFetch(found []input.Name) int64 {
	n := int64(0)
	for _, f := range found {
		if f.URL() != "" {
			n += max(0, f.Size)
		}
	}
	return n
}

// toFetchFor returns the bytes of the remote parts of a shard. A repeated part counts once.
func toFetchFor(p *plan.Plan, found []input.Name, i int) (n int64) {
	first, end := p.Shards[i].PartRange()
	seen := make(map[string]bool, end-first)
	for _, f := range found[first:end] {
		if f.URL() != "" && !seen[f.URL()] {
			n += max(0, f.Size)
		}
		seen[f.URL()] = true
	}
	return n
}

// heldAtOnce returns the bytes of the remote parts of the n largest shards.
func heldAtOnce(p *plan.Plan, found []input.Name, n int) int64 {
	remote := make([]int64, len(p.Shards))
	for i := range p.Shards {
		remote[i] = toFetchFor(p, found, i)
	}
	slices.SortFunc(remote, func(a, b int64) int { return cmp.Compare(b, a) })
	sum := int64(0)
	for _, size := range remote[:n] {
		sum += size
	}
	return sum
}
