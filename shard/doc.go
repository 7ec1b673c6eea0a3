// Package shard writes the shards of a plan, re-reads and names them, and resumes. [Convert] makes
// a dataset of a source in one call:
//
//	report, err := shard.Convert(ctx, src, "out", shard.ConvertOptions{})
//
// Its steps, for a caller that has work between them:
//
//	index, err := plan.Index(ctx, src, plan.IndexOptions{}) // where every sample lies
//	p, err := plan.New(index, plan.Options{…})              // pure: which shard holds which samples
//	out, err := dataset.Open("out")
//	report, err := shard.Write(ctx, shard.Local(src), p, out, shard.WriteOptions{})
//
// Write is three steps in one, which many machines can share:
//
//	err = out.Begin(p, src.Parts(), named, false)               // once
//
//	out, err := dataset.OpenShared("out")                       // each task
//	slice, err := out.Slice(plan.Task{K: 3, N: 40}, false)
//	report, err := shard.Run(ctx, parts, slice, out, shard.WriteOptions{})
//
//	report, err := shard.Finish(ctx, out, shard.FinishOptions{}) // once
package shard
