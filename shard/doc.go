// Package shard writes the shards of a plan, re-reads and names them, and resumes. A dataset is made
// of a source in four steps:
//
//	index, err := plan.Index(ctx, src, plan.IndexOptions{}) // where every sample lies
//	p, err := plan.New(index, plan.Options{…})              // reads nothing: which shard holds which samples
//	out, err := dataset.Open("out")                         // locks it until out.Close()
//	report, err := shard.Write(ctx, shard.Local(src), p, out, shard.WriteOptions{})
//	err = out.Close()
//
// Write is three steps in one, which many machines can share. The first is for one process, once:
//
//	out, err := dataset.Open("out")
//	j, err := out.Begin(p, src.Parts(), []string{"a.tar"}, false) // the sources as they were named; true replaces another dataset
//	err = errors.Join(j.Changed, j.Close(), out.Close())
//
// then each task, of which any number may run at once,
//
//	out, err := dataset.OpenTask("out")
//	slice, err := out.Slice(plan.Task{K: 3, N: 40}, false)      // false: with those parts alone that its shards are made of
//	own, err := slice.Of(src)                                   // src is all of the dataset; own is those parts
//	report, err := shard.Run(ctx, shard.Local(own), slice, out, shard.WriteOptions{})
//	err = out.Close()
//
// and in the end one process:
//
//	out, err := dataset.Open("out")
//	report, err := shard.Finish(ctx, out, shard.WriteOptions{})
//	err = out.Close()
package shard
