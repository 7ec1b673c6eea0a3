// Package plan decides which shard holds which samples, and reads and writes plan files. It reads no more payload than it
// must. The same index and options give the same plan file, byte for byte, on every machine.
//
//	index, err := plan.Index(ctx, src, plan.IndexOptions{}) // sizes and places of all samples
//	p, err := plan.New(index, plan.Options{Sizes: plan.Sizes{ShardSize: 1 << 30}})
//
// Terms:
//
//	part      one file, folder class or object of the source, in dataset order
//	sample    what training reads at once; it becomes one record of a shard
//	run       consecutive samples of one part; a shard is a list of runs
//	shard     one FFRecord file: a header, then records
//	task      one of N processes that write the shards together: K/N writes the K-th slice, counted from 0
//	slice     consecutive shards, those of a task, and the parts that their samples are in
//	cost      bytes that a sample takes in a shard: its record, and 12 in the table of the header
//	part-aligned  cut between parts, by their sizes alone; else within parts, at samples
//	account   counts of a part: entries, in a sample or skipped with a reason; samples and fields, written or left out
package plan
