// Package write writes a dataset: package shard fills the shards of a plan, and this package verifies and renames them,
// and resumes interrupted runs. A dataset is made from a source in four steps:
//
//	index, err := plan.Index(ctx, src, plan.IndexOptions{}) // where every sample lies
//	p, err := plan.New(index, plan.Options{…})              // reads nothing: which shard holds which samples
//	out, err := dataset.Open("out")                         // locks it until out.Close()
//	report, err := write.All(ctx, write.Local(src), p, out, write.Options{})
//	err = out.Close()
//
// All combines three steps that can also run on many machines. The first runs once, in one process:
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
//	report, err := write.Slice(ctx, write.Local(parts), slice, out, write.Options{})
//	err = out.Close()
//
// Finally one process runs:
//
//	out, err := dataset.Open("out")
//	report, err := write.Finish(ctx, out, write.Options{})
//	err = out.Close()
package write
