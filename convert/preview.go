package convert

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/input"
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
func (c *Conversion) Preview(ctx context.Context) (*Preview, error) {
	aligned, err := c.prepare(ctx)
	if err != nil {
		return nil, err
	}
	if aligned || slices.ContainsFunc(c.found, func(n input.Name) bool { return n.URL() != "" }) {
		return c.previewFetch(aligned)
	}
	in := c.inputOptions()
	if c.Input.CacheDir == "" {
		remove := TemporaryCache(&in)
		defer remove()
		c.Input.CacheDir, c.Input.NoCache = in.CacheDir, in.NoCache // for answers of a filter
	}
	in.Progress = c.staging(c.found)
	if err := c.trim(ctx, in); err != nil {
		return nil, err
	}
	set, err := c.stage(ctx, c.wanted(), in)
	if err != nil {
		return nil, err
	}
	p, _, err := c.plan(ctx, set)
	if err := errors.Join(err, c.endFilter(), set.Release(), c.returnBeside()); err != nil {
		return nil, err
	}
	c.tellDoubts()
	return &Preview{Plan: p}, nil
}

// previewFetch says what a conversion of remote parts would fetch. Their samples are not known.
func (c *Conversion) previewFetch(aligned bool) (*Preview, error) {
	found := c.found
	if aligned {
		found, _ = passes(c.Mixture, found)
	}
	parts := make([]converters.Part, len(found))
	f := &fetch{Parts: len(found), Bytes: toFetch(found), Fewer: c.trimmable(), Folders: c.Reader != nil && c.Reader.Directories}
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
	if !aligned {
		f.Cache = f.Bytes + f.Trees.Room
		return &Preview{Fetch: f}, nil
	}
	how, err := c.request()
	if err != nil {
		return nil, err
	}
	how.Encode.Encoding = cmp.Or(how.Encode.Encoding, "msgpack")
	p, err := plan.NewAligned(parts, nil, how)
	if err != nil {
		return nil, empty(found[0].Name, nil, err)
	}
	f.Together = min(c.Workers+1, len(p.Shards))
	f.Cache = heldAtOnce(p, found, f.Together)
	return &Preview{Plan: p, Fetch: f}, nil
}
