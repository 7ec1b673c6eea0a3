package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// check refuses an output that is taken, as far as that can be told before the input is
// read.
func (c *conversion) check(out *dataset.Output, found []input.Name) error {
	var names []string // of the parts; those of a directory are not known yet
	if c.mix != nil {
		names = c.mix.partNames(found)
	} else if !c.format.directories {
		for _, n := range found {
			names = append(names, n.Name)
		}
	}
	how, err := c.asked()
	if err != nil {
		return err
	}
	return out.Check(how, names, c.opts.overwrite)
}

// asked are the options of the plan before anything is read, with the encoding that was named.
func (c *conversion) asked() (plan.Options, error) {
	enc, err := encode.Parse(c.opts.encode)
	if err != nil {
		return plan.Options{}, err
	}
	how := c.planOptions(enc)
	how.Encode.Encoding = c.opts.encode.Encoding
	return how, nil
}

// A described dataset is one of which its source has said what it is.
type described struct {
	says converters.Description
	enc  *encode.Spec   // of its records
	each plan.Encodings // of the records of each part
}

// describe returns what a source says of its dataset, and how its records are encoded. It tells
// of what the first rows show that may not be meant.
func (c *conversion) describe(src converters.Source, progress *reporter) (d described, err error) {
	c.src = src
	c.warn(progress)
	records := c.opts.encode
	if c.mix != nil {
		records.Encoding = c.mix.encoding
	}
	if d.says, d.enc, err = shard.DescribeSource(src, records); err != nil {
		return d, err
	}
	c.columns = d.says.Columns
	d.each = plan.Encodings{Specs: []*encode.Spec{d.enc}}
	if c.mix != nil {
		d.each, err = c.mix.encodings(d.enc)
	}
	return d, err
}

// plan indexes the sources and plans the shards.
func (c *conversion) plan(ctx context.Context, set *input.Set, progress *reporter) (*plan.Plan, converters.Source, error) {
	src, err := c.source(ctx, set)
	if err != nil {
		return nil, nil, err
	}
	d, err := c.describe(src, progress)
	if err != nil {
		return nil, nil, err
	}
	index, err := plan.Index(ctx, src, plan.IndexOptions{Encodings: d.each, Workers: max(c.opts.workers, indexedAtOnce), Progress: progress})
	if err != nil {
		return nil, nil, err
	}
	how := c.planOptions(d.enc)
	how.Dataset, how.Encodes = d.says, d.each.Options()
	plan, err := plan.New(index, how)
	return plan, src, empty(set.Files[0].Name, index, err)
}

// empty says of what there are no samples, and why, where that is the error.
func empty(first string, index []plan.PartIndex, err error) error {
	if !errors.Is(err, plan.ErrEmpty) {
		return err
	}
	leftOut, skipped := int64(0), make(map[string]int64)
	for i := range index {
		leftOut += index[i].Account.SamplesLeftOut
		for reason, n := range index[i].Account.Skipped {
			skipped[reason] += n
		}
	}
	var why []string
	if leftOut > 0 {
		why = append(why, "left out "+counted(leftOut, "sample")+" without a field, by --missing skip")
	}
	for _, row := range whyEmpty {
		if n := skipped[row.reason]; n > 0 {
			why = append(why, counted(n, row.noun)+" "+row.text)
			delete(skipped, row.reason)
		}
	}
	if len(skipped) > 0 {
		why = append(why, "skipped "+skippedText(skipped))
	}
	if why == nil {
		return fmt.Errorf("%s: %w to convert", first, err)
	}
	return fmt.Errorf("%s: %w to convert: %s", first, err, strings.Join(why, "; "))
}

// whyEmpty says what it means where all entries were passed over for a reason, and what to do.
var whyEmpty = []struct{ reason, noun, text string }{
	{"file outside a class", "file", "outside a class, which is a directory of files: --flat makes a record of each file"},
	{"extension not selected", "file", "of other suffixes than --ext selects"},
	{"name without key", "member", "without a key: a name has a dot behind its key, as 0001.jpg has"},
	{"header line", "header", "and no rows"},
}

// indexedAtOnce is how many parts are indexed at once where --jobs says no more:
// indexing a cold part waits for one small read after another.
const indexedAtOnce = 8

func (c *conversion) planOptions(enc *encode.Spec) plan.Options {
	how := plan.Options{Source: c.spec, Encode: enc.Options(), Sizes: c.opts.sizes}
	how.Sizes.ShardSize, how.Sizes.Min = int64(c.opts.shardSize), int64(c.opts.minSize)
	if c.opts.shuffle {
		how.Shuffle = &plan.Shuffle{Seed: c.opts.seed}
	}
	return how
}

// dryRun prints the plan, or of remote parts what is known of it: it writes and fetches
// nothing, and stages in a temporary directory.
func (c *conversion) dryRun(ctx context.Context, found []input.Name, in input.Options, whole bool, progress *reporter) error {
	if whole || slices.ContainsFunc(found, func(n input.Name) bool { return n.URL() != "" }) {
		return c.printFetch(found, whole)
	}
	if c.opts.cacheDir == "" {
		remove := temporaryCache(&in)
		defer remove()
	}
	in.Progress = progress.staging(found)
	set, err := c.stage(ctx, found, in)
	if err != nil {
		return err
	}
	plan, _, err := c.plan(ctx, set, progress)
	progress.stop()
	if err := errors.Join(err, set.Cleanup()); err != nil {
		return err
	}
	c.warn(progress)
	return printPlan(c.stdout, plan)
}
