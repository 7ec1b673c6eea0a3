package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

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
