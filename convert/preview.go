package convert

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A Preview describes what a conversion would do.
type Preview struct {
	// Plan is complete if the sources are local. If shards are part-aligned it has no samples. nil: all remote parts
	// must be fetched before planning.
	Plan  *plan.Plan
	Fetch *fetch // nil: all sources are local
}

// A fetch describes what a conversion would fetch.
type fetch struct {
	Parts    int              // number of inputs
	Stored   int64            // sum of the known sizes of all inputs, as stored
	Remote   int              // number of remote inputs
	Bytes    int64            // sum of the known sizes of remote inputs
	Unknown  int              // number of inputs of unknown size
	Trees    input.ObjectTree // sum over the objects of remote folders, whose bytes Room does not include
	Fewer    bool             // because of a limit or a slice, fewer inputs may be needed
	Folders  bool             // the inputs are folders
	Together int              // number of shards whose parts are in the cache at once; 0: all
	Cache    int64            // bytes needed in the cache; more if parts are compressed
}

// Preview plans the conversion as far as possible without fetching anything. It stages local inputs in a
// temporary directory.
func (c Conversion) Preview(ctx context.Context) (*Preview, error) {
	in, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	if in.aligned || slices.ContainsFunc(in.names, func(n input.Name) bool { return n.URL() != "" }) {
		return in.previewFetch()
	}
	var done Preview
	err = in.work(ctx, nil, func(w *work) error {
		return w.plan(ctx, nil, nil, func(_ write.PartProvider, p *plan.Plan) error {
			done.Plan = p
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return &done, nil
}

// previewFetch describes the fetches of a conversion of remote parts, whose samples are not known.
func (in *inputs) previewFetch() (*Preview, error) {
	found := in.names
	if in.aligned {
		found = passes(in, found)
	}
	parts := make([]converters.Part, len(found))
	f := &fetch{Parts: len(found), Fewer: in.trimmable(), Folders: in.Reader != nil && in.Reader.Directories}
	for i, n := range found {
		parts[i] = n.Part()
		f.Stored += max(0, n.Size)
		if n.URL() != "" {
			f.Remote++
			f.Bytes += max(0, n.Size)
		}
		if n.Tree != nil {
			f.Trees.Files += n.Tree.Files
			f.Trees.Markers += n.Tree.Markers
			f.Trees.Room += n.Tree.Room - n.Tree.Bytes
		}
		if n.Size < 0 {
			f.Unknown++
		}
	}
	if !in.aligned {
		f.Cache = f.Bytes + f.Trees.Room
		return &Preview{Fetch: f}, nil
	}
	how, err := in.planOptions()
	if err != nil {
		return nil, err
	}
	how.Encode.Encoding = cmp.Or(how.Encode.Encoding, "msgpack")
	p, err := plan.NewAligned(parts, nil, how)
	if err != nil {
		return nil, empty(found[0].Name, nil, err)
	}
	f.Together = min(in.Workers+1, len(p.Shards))
	f.Cache = heldAtOnce(p, found, f.Together)
	return &Preview{Plan: p, Fetch: f}, nil
}

// checkQuota returns an error if the parts of one shard need more than the quota of the cache. found
// has one input for each part. Only stored sizes count: decompressed sizes are not known.
func checkQuota(p *plan.Plan, found []input.Name, quota int64) error {
	if quota <= 0 {
		return nil
	}
	for i := range p.Shards {
		if need := toFetchFor(p, found, i); need > quota {
			return &place.Error{Where: p.Shards[i].Name, Off: -1, Hint: moreRoomForOne,
				Err: fmt.Errorf("%w: its parts are %s bytes to fetch, and the cache has %s", stage.ErrQuota, humanize.Comma(need), humanize.Comma(quota))}
		}
	}
	return nil
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
