// Package loader delivers batches to a training loop, reading ahead at the speed of the device.
//
//	l, err := loader.Open([]string{"out"}, loader.Options{Order: loader.Order{Seed: 7, Batch: 256}, Rank: rank, World: world, State: saved})
//	if err != nil { // saved is a *loader.State, nil at the start
//		return err
//	}
//	defer l.Close()
//	for l.Epoch() < epochs {
//		for b, err := range l.Batches(ctx) {
//			if err != nil {
//				return err
//			}
//			train(b)        // b.Sample(i) is valid until the next batch
//			save(b.State)   // a loader.State, some 150 bytes of JSON: a run that is given them begins with the batch after b
//		}
//		if err := l.SetEpoch(l.Epoch() + 1); err != nil {
//			return err
//		}
//	}
//
// The samples of a batch are a function of the dataset, the seed and the epoch: see docs/order.md and [Order]. The
// samples of a step are the same for any number of ranks, which divide them.
//
// # Goroutines and memory
//
// While a loop over Batches runs, one goroutine chooses the samples of the next steps and each of Options.Readers
// goroutines reads one batch at a time with record.Reader.ReadBatch, which checks the CRC of every sample. They end
// with the loop.
//
//	            ┌─ reader ─┐
//	steps ─►────┤          ├──► batches, in the order of steps ─► loop ─┐
//	            └─ reader ─┘                                            │
//	   ▲                                                                │
//	   └───────────────────── memory of a batch ────────────────────────┘
//
// In memory are the batch of the loop and Options.Prefetch more, together Options.Memory bytes at most, if that is not
// 0; a larger batch is read alone. Each is one slab, which is reused. In addition the loader takes 16 MiB for each
// reader, and the memory of Options.Keys and mode Group. Headers, 12 bytes a sample, are mapped when a sample of the shard
// is first needed: all processes share them in the page cache.
package loader
