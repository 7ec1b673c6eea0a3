package convert

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/internal/input"
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
			return advise(MoreRoomForOne, &input.Error{Where: p.Shards[i].Name, Off: -1,
				Err: fmt.Errorf("%w: its parts are %s bytes to fetch, and the cache has %s", stage.ErrQuota, humanize.Comma(need), humanize.Comma(quota))})
		}
	}
	return nil
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
func toFetchFor(p *plan.Plan, found []input.Name, i int) int64 {
	first, end := p.Shards[i].PartRange()
	var parts []input.Name
	seen := make(map[string]bool, end-first)
	for _, n := range found[first:end] {
		if !seen[n.URL()] {
			parts = append(parts, n)
		}
		seen[n.URL()] = true
	}
	return toFetch(parts)
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
