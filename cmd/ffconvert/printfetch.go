package main

import (
	"cmp"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// fetched returns how many bytes the remote ones among the inputs have, as far as is known.
func fetched(found []input.Name) int64 {
	n := int64(0)
	for _, f := range found {
		if f.URL() != "" {
			n += max(0, f.Size)
		}
	}
	return n
}

// printFetch says what a conversion of remote parts would fetch, without fetching it: how
// many samples there are is not known before.
func (c *conversion) printFetch(found []input.Name, whole bool) error {
	if c.mix != nil && whole {
		found, _ = c.mix.passes(found)
	}
	parts := make([]plan.Part, len(found))
	remote, unknown, total := 0, 0, int64(0)
	var trees input.ObjectTree // all together
	for i, f := range found {
		parts[i] = plan.Part{Name: f.Name, Size: max(0, f.Size)}
		total += parts[i].Size
		if f.URL() != "" {
			remote++
		}
		if f.Tree != nil {
			trees.Files += f.Tree.Files
			trees.Markers += f.Tree.Markers
			trees.Room += f.Tree.Room - f.Tree.Bytes // more than the bytes
		}
		if f.Size < 0 {
			unknown++
		}
	}
	t := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "source\t%s, %s of %s as stored\n", c.format.name, counted(int64(len(found)), "part"), humanize.IBytes(uint64(total)))
	fmt.Fprintf(t, "bytes to fetch\t%s, of %s", exactBytes(fetched(found)), counted(int64(remote), "remote part"))
	if trees.Files > 0 {
		fmt.Fprintf(t, ", %s in folders", counted(int64(trees.Files), "object"))
	}
	fmt.Fprintln(t)
	if unknown > 0 {
		fmt.Fprintf(t, "\tand %s of unknown size\n", counted(int64(unknown), "part"))
	}
	if trees.Markers > 0 {
		fmt.Fprintf(t, "left out\t%s, with a key that ends in /\n", counted(int64(trees.Markers), "empty object"))
	}
	if !whole {
		more := " and more where parts are compressed"
		switch {
		case c.format.directories:
			more = ""
		case unknown > 0:
			more += ", and for those of unknown size"
		}
		fmt.Fprintf(t, "cache needed\t%s%s: all parts are here before shards are planned\n", exactBytes(fetched(found)+trees.Room), more)
		return t.Flush()
	}
	enc, err := encode.Parse(c.opts.encode)
	if err != nil {
		return err
	}
	plan, err := plan.NewAligned(parts, nil, c.planOptions(enc))
	if err != nil {
		return empty(found[0].Name, nil, err)
	}
	held := min(c.opts.workers+1, len(plan.Shards))
	fmt.Fprintf(t, "cache needed\t%s and more where parts are compressed: the parts of %s at once\n", exactBytes(heldAtOnce(plan, found, held)), counted(int64(held), "shard"))
	stored := make([]int64, len(plan.Shards))
	for i := range stored {
		stored[i] = plan.Stored(i)
	}
	n := int64(len(stored))
	fmt.Fprintf(t, "shards\t%s, of whole parts; --exact cuts at samples\n", humanize.Comma(n))
	fmt.Fprintf(t, "shard bytes\tmin %s  mean %s  max %s, as stored\n", humanize.Comma(slices.Min(stored)), humanize.Comma(total/n), humanize.Comma(slices.Max(stored)))
	return t.Flush()
}

// exactBytes is a number of them, to the last and in units.
func exactBytes(n int64) string {
	return fmt.Sprintf("%s (%s)", humanize.Comma(n), humanize.IBytes(uint64(n)))
}

// heldAtOnce returns how many bytes of remote parts the n shards that have most of them take.
func heldAtOnce(plan *plan.Plan, found []input.Name, n int) int64 {
	remote := make([]int64, len(plan.Shards))
	for i := range plan.Shards {
		remote[i] = heldOf(plan, found, i)
	}
	slices.SortFunc(remote, func(a, b int64) int { return cmp.Compare(b, a) })
	sum := int64(0)
	for _, size := range remote[:n] {
		sum += size
	}
	return sum
}

// heldOf returns how many bytes of remote parts a shard takes; one that it has twice counts once.
func heldOf(plan *plan.Plan, found []input.Name, i int) int64 {
	first, end := plan.Shards[i].PartRange()
	var parts []input.Name
	seen := make(map[string]bool, end-first)
	for _, n := range found[first:end] {
		if !seen[n.URL()] {
			parts = append(parts, n)
		}
		seen[n.URL()] = true
	}
	return fetched(parts)
}
