// Package shard plans even shards, writes them, and resumes.
//
//	index, err := shard.Index(ctx, src, spec, workers, nil) // where every sample lies
//	plan, err := shard.NewPlan(index, shard.Options{…})     // pure: which shard holds which samples
//	out, err := shard.OpenOutput("out")
//	report, err := shard.Write(ctx, src, plan, out, shard.WriteOptions{})
//
// What Write leaves in its directory:
//
//	PART_00000.ffr …            complete, fsynced, re-read; nothing else ever ends in .ffr
//	index/PART_00000.arrow …    a row a sample
//	meta.json                   what the dataset says of itself
//	manifest.json               written last: where it is, the conversion is complete
//	.ffconvert/plan             a line a shard; any one can be written from it alone
//	.ffconvert/journal          a line a finished shard; what a resumed run starts from
//	.ffconvert/tmp/             files that are being written
//	.ffconvert/lock             held by the one process that writes here
package shard
