// Package shard writes the shards of a plan, verifies and renames them, and resumes interrupted runs. A dataset is
// made from a source in four steps:
//
//	index, err := plan.Index(ctx, src, plan.IndexOptions{}) // where every sample lies
//	p, err := plan.New(index, plan.Options{…})              // reads nothing: which shard holds which samples
//	out, err := dataset.Open("out")                         // locks it until out.Close()
//	report, err := shard.Write(ctx, shard.Local(src), p, out, shard.WriteOptions{})
//	err = out.Close()
//
// Write combines three steps that can also run on many machines. The first runs once, in one process:
//
//	out, err := dataset.Open("out")
//	j, err := out.Begin(p, src.Parts(), []string{"a.tar"}, false) // the sources as they were named; true replaces another dataset
//	err = errors.Join(j.Changed, j.Close(), out.Close())
//
// Then the tasks run, any number of them at once:
//
//	out, err := dataset.OpenTask("out")
//	slice, err := out.Slice(plan.Task{K: 3, N: 40}, false)      // false: only the parts of its shards
//	parts, err := slice.Of(src)                                 // the parts of the slice, from a source of the whole dataset
//	report, err := shard.Run(ctx, shard.Local(parts), slice, out, shard.WriteOptions{})
//	err = out.Close()
//
// Finally one process runs:
//
//	out, err := dataset.Open("out")
//	report, err := shard.Finish(ctx, out, shard.WriteOptions{})
//	err = out.Close()
package shard
