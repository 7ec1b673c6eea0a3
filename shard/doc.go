// Package shard writes a shard of a plan, and its index, from a source:
//
//	w, err := shard.NewWriter(specs, 1, 1)
//	done, err := w.Write(ctx, &shard.Job{Shard: &p.Shards[0], Plan: p, Source: src, Shape: p.Columns}, file, index, progress)
//
// It knows files and no directory: package dataset/write gives shards their names, and completes the dataset.
package shard
