// Package shard plans even shards, writes them, and resumes. [Convert] makes a dataset of a
// source in one call:
//
//	report, err := shard.Convert(ctx, src, "out", shard.ConvertOptions{})
//
// Its steps, for a caller that has work between them:
//
//	index, err := shard.Index(ctx, src, spec, workers, nil) // where every sample lies
//	plan, err := shard.NewPlan(index, shard.Options{…})     // pure: which shard holds which samples
//	out, err := shard.OpenOutput("out")
//	report, err := shard.Write(ctx, src, plan, out, shard.WriteOptions{})
//
// Write is three steps in one, which many machines can share:
//
//	err = out.Begin(plan, src.Parts(), named, false)            // once
//
//	out, err := shard.OpenShared("out")                         // each task
//	slice, err := out.Slice(shard.Task{K: 3, N: 40}, false)
//	report, err := shard.RunStock(ctx, stock, slice, out, shard.WriteOptions{})
//
//	report, err := shard.Finish(ctx, out, shard.FinishOptions{}) // once
//
// What they leave in the directory:
//
//	PART_00000.ffr …            complete, fsynced, re-read; nothing else ever ends in .ffr
//	index/PART_00000.arrow …    a row a sample
//	meta.json                   what the dataset says of itself
//	manifest.json               written last: where it is, the conversion is complete
//	.ffconvert/plan             a line a shard; any one can be written from it alone
//	.ffconvert/journal          a line a finished shard; what a resumed run starts from
//	.ffconvert/journals/        those of tasks, until they become one
//	.ffconvert/indexed/         what tasks have found for who plans
//	.ffconvert/running/         a claim a shard that is being written
//	.ffconvert/tmp/             files that are being written, a directory a process
//	.ffconvert/lock             held by the one process that writes here alone, or by tasks together
package shard
