package terminal

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// printPlan prints the shards that a plan has.
func printPlan(w io.Writer, plan *plan.Plan) error {
	samples, bytes := plan.Totals()
	least, most := plan.Shards[0].Bytes, plan.Shards[0].Bytes
	for _, s := range plan.Shards {
		least, most = min(least, s.Bytes), max(most, s.Bytes)
	}
	n := int64(len(plan.Shards))
	a := plan.Account()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "source\t%s, %s of %s\n", plan.Source.Format, Counted(int64(len(plan.Parts)), "part"), humanize.IBytes(uint64(partBytes(plan))))
	fmt.Fprintf(t, "encoding\t%s\n", plan.Encode.Encoding)
	fmt.Fprintf(t, "shards\t%s\n", humanize.Comma(n))
	fmt.Fprintf(t, "samples\t%s\n", humanize.Comma(samples))
	fmt.Fprintf(t, "bytes\t%s (%s)\n", humanize.Comma(bytes), humanize.IBytes(uint64(bytes)))
	fmt.Fprintf(t, "shard bytes\tmin %s  mean %s  max %s\n", humanize.Comma(least), humanize.Comma(bytes/n), humanize.Comma(most))
	if len(a.LeftOutBy) > 0 {
		fmt.Fprintf(t, "left out\t%s\n", LeftOutText(a.LeftOutBy))
	}
	if n := a.WithoutField(); n > 0 {
		fmt.Fprintf(t, "left out\t%s without a field\n", Counted(n, "sample"))
	}
	if a.Unread > 0 {
		fmt.Fprintf(t, "not read\t%s, as no more is wanted\n", Counted(a.Unread, "part"))
	}
	if a.Partly > 0 {
		fmt.Fprintf(t, "read in part\t%s, up to the last sample that is wanted\n", Counted(a.Partly, "part"))
	}
	if len(a.Skipped) > 0 {
		fmt.Fprintf(t, "skipped\t%s\n", SkippedText(a.Skipped))
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

// PrintPreview prints what --dry-run found out.
func PrintPreview(w io.Writer, format string, p *convert.Preview) error {
	if p.Fetch == nil {
		return printPlan(w, p.Plan)
	}
	return printFetch(w, format, p)
}

// printFetch prints what a conversion of remote parts would fetch. The number of samples is not known
// before that.
func printFetch(w io.Writer, format string, p *convert.Preview) error {
	f := p.Fetch
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "source\t%s, %s of %s as stored\n", format, Counted(int64(f.Parts), "part"), humanize.IBytes(uint64(f.Stored)))
	fmt.Fprintf(t, "bytes to fetch\t%s, of %s", exactBytes(f.Bytes), Counted(int64(f.Remote), "remote part"))
	if f.Trees.Files > 0 {
		fmt.Fprintf(t, ", %s in folders", Counted(int64(f.Trees.Files), "object"))
	}
	fmt.Fprintln(t)
	if f.Unknown > 0 {
		fmt.Fprintf(t, "\tand %s of unknown size\n", Counted(int64(f.Unknown), "part"))
	}
	if f.Fewer {
		fmt.Fprintln(t, "\tor less: no more are fetched than --limit and --slice need")
	}
	if f.Trees.Markers > 0 {
		fmt.Fprintf(t, "left out\t%s, with a key that ends in /\n", Counted(int64(f.Trees.Markers), "empty object"))
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
	fmt.Fprintf(t, "cache needed\t%s and more where parts are compressed: the parts of %s at once\n", exactBytes(f.Cache), Counted(int64(f.Together), "shard"))
	stored := make([]int64, len(p.Plan.Shards))
	for i := range stored {
		stored[i] = p.Plan.Stored(i)
	}
	n := int64(len(stored))
	fmt.Fprintf(t, "shards\t%s, part-aligned; --exact cuts at samples\n", humanize.Comma(n))
	fmt.Fprintf(t, "shard bytes\tmin %s  mean %s  max %s, as stored\n", humanize.Comma(slices.Min(stored)), humanize.Comma(f.Stored/n), humanize.Comma(slices.Max(stored)))
	return t.Flush()
}

// exactBytes formats a number of bytes, exact and in a unit.
func exactBytes(n int64) string {
	return fmt.Sprintf("%s (%s)", humanize.Comma(n), humanize.IBytes(uint64(n)))
}
