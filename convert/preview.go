package convert

import (
	"cmp"
	"context"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A Preview says what a conversion would do.
type Preview struct {
	// Plan is complete if the sources are local, and without samples if shards are part-aligned. It
	// is nil if all remote parts are needed to plan.
	Plan  *plan.Plan
	Fetch *fetch // nil: all sources are local
}

// A fetch says how much a conversion would fetch.
type fetch struct {
	Parts    int              // number of inputs
	Stored   int64            // sum of the known sizes of all inputs, as stored
	Remote   int              // number of remote inputs
	Bytes    int64            // sum of the known sizes of remote inputs
	Unknown  int              // number of inputs of unknown size
	Trees    input.ObjectTree // sum of the objects of remote folders; Room does not include their bytes
	Fewer    bool             // a limit or a slice may need fewer inputs
	Folders  bool             // the inputs are folders
	Together int              // number of shards fetched into the cache at once; 0 means all
	Cache    int64            // bytes that the cache needs, and more where parts are compressed
}

// Preview plans the conversion as far as it can without fetching anything. It stages local inputs in a
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
		return w.plan(ctx, nil, nil, func(_ shard.PartProvider, p *plan.Plan) error {
			done.Plan = p
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return &done, nil
}

// previewFetch says what a conversion of remote parts would fetch. Their samples are not known.
func (in *inputs) previewFetch() (*Preview, error) {
	found := in.names
	if in.aligned {
		found, _ = passes(in, found)
	}
	parts := make([]converters.Part, len(found))
	f := &fetch{Parts: len(found), Bytes: toFetch(found), Fewer: in.trimmable(), Folders: in.Reader != nil && in.Reader.Directories}
	for i, n := range found {
		parts[i] = n.Part()
		f.Stored += max(0, n.Size)
		if n.URL() != "" {
			f.Remote++
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
