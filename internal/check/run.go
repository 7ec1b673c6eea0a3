package check

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/findings"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A checker is the state of one call of Source.
type checker struct {
	src     converters.Source
	parts   []converters.Part
	classes []string // class names of a folder source, else nil
	opts    Options  // with defaults filled in
	spec    *encode.Spec
	report  *findings.Report
	seed    maphash.Seed // seed of the key hashes

	records int64  // records that a conversion would write
	refused bool   // Index or Read returned an error for some part
	groups  groups // merged from all parts
	sets    fieldSets
	keys    []partKeys // by part number
}

// run checks all parts, Options.Workers at a time, and merges their results in the order of parts, so that the report
// does not depend on the number of workers.
func (c *checker) run(ctx context.Context) error {
	total := int64(0)
	for _, p := range c.parts {
		total += p.Size
	}
	c.opts.Progress = plan.StartPhase(c.opts.Progress, "check", total)
	c.keys = make([]partKeys, len(c.parts))

	var g errgroup.Group
	g.SetLimit(c.opts.Workers)
	var mu sync.Mutex
	waiting := make(map[int]*part) // checked parts that cannot be merged before an earlier part
	next := 0
	for i := range c.parts {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			p := c.newPart(i)
			p.look(ctx)
			mu.Lock()
			defer mu.Unlock()
			waiting[i] = p
			for ; waiting[next] != nil; next++ {
				c.merge(waiting[next])
				delete(waiting, next)
			}
			return nil
		})
	}
	g.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.finish(ctx)
}

// merge adds the result of one part. It must be called in the order of parts.
func (c *checker) merge(p *part) {
	c.report.Files = append(c.report.Files, findings.File{Name: p.name, Samples: p.samples, Bytes: p.bytes})
	for _, f := range p.found {
		c.report.Add(c.hinted(f))
	}
	c.records += p.samples - p.leftOut
	c.refused = c.refused || p.failed
	c.groups.merge(&p.groups)
	c.sets.merge(&p.sets)
	c.keys[p.num] = p.keys
}

// finish adds findings that concern the whole dataset and sorts all findings by level.
func (c *checker) finish(ctx context.Context) error {
	all := &tally{}
	var doubts []converters.Doubt
	if d, ok := c.src.(converters.Doubter); ok {
		doubts = d.Doubts()
	}
	names := make([]string, len(c.parts))
	for i := range c.parts {
		names[i] = c.parts[i].Name
	}
	for _, doubt := range slices.Concat(doubts, converters.SeriesDoubts(names)) {
		rule := ruleOddTable
		if doubt.Off < 0 { // it does not concern a row
			rule = ruleOddSource
		}
		all.add(findings.Finding{Rule: rule, Place: findings.Place{File: doubt.Part, Offset: doubt.Off, Entry: doubt.Entry}, Text: doubt.Text, Hint: doubt.Hint})
	}
	if c.src != nil && !c.refused {
		c.match(ctx, all)
	}
	if c.src != nil && c.records == 0 && !c.refused {
		place := findings.Place{Offset: -1}
		if len(c.parts) > 0 {
			place.File = c.parts[0].Name
		}
		all.add(findings.Finding{Rule: EmptyDataset, Place: place, Text: "there are no samples to convert"})
	}
	if c.opts.Encode.Fields == "" { // with Fields, encoding a sample that lacks one of them fails
		c.sets.compare(all)
	}
	if err := c.compareKeys(ctx, all); err != nil {
		return err
	}
	c.groups.merge(&all.groups)
	for _, f := range slices.Concat(all.found, c.groups.findings()) {
		c.report.Add(c.hinted(f))
	}
	level := make(map[string]int)
	for _, r := range c.report.Rules {
		level[r.ID] = slices.Index([]findings.Level{findings.Error, findings.Warning, findings.Note}, r.Level)
	}
	slices.SortStableFunc(c.report.Found, func(a, b findings.Finding) int {
		return cmp.Compare(level[a.Rule], level[b.Rule])
	})
	return nil
}

// match adds the errors of the source's own Check, which needs all samples indexed. compareKeys reports repeated keys.
func (c *checker) match(ctx context.Context, to *tally) {
	from, ok := c.src.(interface{ Check(context.Context) error })
	if !ok {
		return
	}
	err := from.Check(ctx)
	errs := []error{err}
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		errs = all.Unwrap()
	}
	for _, err := range errs {
		if errors.Is(err, converters.ErrUnmatched) {
			to.add(Refusal(err, ""))
		}
	}
}

// hinted sets the hint of a finding from Options.Hints, and removes the hint of an accepted finding.
func (c *checker) hinted(f findings.Finding) findings.Finding {
	if hint, ok := c.opts.Hints[f.Rule]; ok {
		f.Hint = hint
	}
	if slices.Contains(c.opts.Accepted, f.Rule) {
		f.Hint = ""
	}
	return f
}
