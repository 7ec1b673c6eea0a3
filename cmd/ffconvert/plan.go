package main

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/shard"
)

func newPlanCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Plan a conversion that tasks will write",
		Long: `Index the sources and write the plan into OUT: which shard holds which samples. The shards are
written by ffconvert run, on as many machines as there are, and ffconvert finish completes the
dataset.

` + exitStatus,
		Example: `  ffconvert plan tar 'shards-<0000..9999>.tar' out/`,
	}
	for _, f := range formats {
		cmd.AddCommand(newConvertCommand(f, func(c *conversion) { c.planOnly = true }))
	}
	for _, c := range cmd.Commands() {
		c.GroupID = ""
	}
	return cmd
}

// begin puts the plan into the output.
func (c *conversion) begin(ctx context.Context, out *shard.Output, plan *shard.Plan, parts []converters.Part) (*shard.Report, error) {
	opts := c.writeOptions(ctx, nil)
	if err := out.Begin(plan, parts, opts.Named, opts.Overwrite); err != nil {
		return nil, err
	}
	report := &shard.Report{Shards: len(plan.Shards)}
	report.Samples, report.Bytes = plan.Totals()
	return report, nil
}

// A planSummary is the closing line of a plan.
type planSummary struct {
	Done    bool   `json:"done"`
	Out     string `json:"out"`
	Shards  int    `json:"shards"`
	Samples int64  `json:"samples"`
	Bytes   int64  `json:"bytes"`
}

func newPlanSummary(out string, r *shard.Report) planSummary {
	return planSummary{true, out, r.Shards, r.Samples, r.Bytes}
}

func (s planSummary) String() string {
	return fmt.Sprintf("%s: plan of %s, %s, %s; write it with: ffconvert run %s --task K/N", s.Out, counted(int64(s.Shards), "shard"), counted(s.Samples, "sample"), humanize.Bytes(uint64(s.Bytes)), s.Out)
}
