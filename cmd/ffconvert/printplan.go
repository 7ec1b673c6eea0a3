package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// printPlan says what a plan would make.
func printPlan(w io.Writer, plan *plan.Plan) error {
	samples, bytes := plan.Totals()
	least, most := plan.Shards[0].Bytes, plan.Shards[0].Bytes
	for _, s := range plan.Shards {
		least, most = min(least, s.Bytes), max(most, s.Bytes)
	}
	n := int64(len(plan.Shards))
	a := plan.Account()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "source\t%s, %s of %s\n", plan.Source.Format, counted(int64(len(plan.Parts)), "part"), humanize.IBytes(uint64(partBytes(plan))))
	fmt.Fprintf(t, "encoding\t%s\n", plan.Encode.Encoding)
	fmt.Fprintf(t, "shards\t%s\n", humanize.Comma(n))
	fmt.Fprintf(t, "samples\t%s\n", humanize.Comma(samples))
	fmt.Fprintf(t, "bytes\t%s (%s)\n", humanize.Comma(bytes), humanize.IBytes(uint64(bytes)))
	fmt.Fprintf(t, "shard bytes\tmin %s  mean %s  max %s\n", humanize.Comma(least), humanize.Comma(bytes/n), humanize.Comma(most))
	if a.SamplesLeftOut > 0 {
		fmt.Fprintf(t, "left out\t%s without a field\n", counted(a.SamplesLeftOut, "sample"))
	}
	if len(a.Skipped) > 0 {
		fmt.Fprintf(t, "skipped\t%s\n", skippedText(a.Skipped))
	}
	return t.Flush()
}

func partBytes(plan *plan.Plan) int64 {
	n := int64(0)
	for _, p := range plan.Parts {
		n += p.Size
	}
	return n
}

// skippedText lists counts by reason: "12 entries (10 directory, 2 symbolic link)".
func skippedText(skipped map[string]int64) string {
	var each []string
	sum := int64(0)
	for _, reason := range slices.Sorted(maps.Keys(skipped)) {
		each = append(each, humanize.Comma(skipped[reason])+" "+reason)
		sum += skipped[reason]
	}
	noun := "entries"
	if sum == 1 {
		noun = "entry"
	}
	return fmt.Sprintf("%s %s (%s)", humanize.Comma(sum), noun, strings.Join(each, ", "))
}

// counted is a number with its noun.
func counted(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return humanize.Comma(n) + " " + noun
}

// printPreview says what a conversion would do.
func (c *conversion) printPreview(p *convert.Preview) error {
	if p.Fetch == nil {
		return printPlan(c.stdout, p.Plan)
	}
	return printFetch(c.stdout, c.formatName(), p)
}

// printFetch says what a conversion of remote parts would fetch: how many samples there are is
// not known before.
func printFetch(w io.Writer, format string, p *convert.Preview) error {
	f := p.Fetch
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "source\t%s, %s of %s as stored\n", format, counted(int64(f.Parts), "part"), humanize.IBytes(uint64(f.Stored)))
	fmt.Fprintf(t, "bytes to fetch\t%s, of %s", exactBytes(f.Bytes), counted(int64(f.Remote), "remote part"))
	if f.Trees.Files > 0 {
		fmt.Fprintf(t, ", %s in folders", counted(int64(f.Trees.Files), "object"))
	}
	fmt.Fprintln(t)
	if f.Unknown > 0 {
		fmt.Fprintf(t, "\tand %s of unknown size\n", counted(int64(f.Unknown), "part"))
	}
	if f.Trees.Markers > 0 {
		fmt.Fprintf(t, "left out\t%s, with a key that ends in /\n", counted(int64(f.Trees.Markers), "empty object"))
	}
	if p.Plan == nil {
		more := " and more where parts are compressed"
		switch {
		case f.Folders:
			more = ""
		case f.Unknown > 0:
			more += ", and for those of unknown size"
		}
		fmt.Fprintf(t, "cache needed\t%s%s: all parts are here before shards are planned\n", exactBytes(f.Cache), more)
		return t.Flush()
	}
	fmt.Fprintf(t, "cache needed\t%s and more where parts are compressed: the parts of %s at once\n", exactBytes(f.Cache), counted(int64(f.Together), "shard"))
	stored := make([]int64, len(p.Plan.Shards))
	for i := range stored {
		stored[i] = p.Plan.Stored(i)
	}
	n := int64(len(stored))
	fmt.Fprintf(t, "shards\t%s, of whole parts; --exact cuts at samples\n", humanize.Comma(n))
	fmt.Fprintf(t, "shard bytes\tmin %s  mean %s  max %s, as stored\n", humanize.Comma(slices.Min(stored)), humanize.Comma(f.Stored/n), humanize.Comma(slices.Max(stored)))
	return t.Flush()
}

// exactBytes is a number of them, to the last and in units.
func exactBytes(n int64) string {
	return fmt.Sprintf("%s (%s)", humanize.Comma(n), humanize.IBytes(uint64(n)))
}
