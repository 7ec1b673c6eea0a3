// Package loader gives a training loop its batches, read ahead at the speed of the device.
//
//	l, err := loader.Open([]string{"out"}, loader.Options{Order: Order{Seed: 7, Batch: 256}, Rank: rank, World: world, State: saved})
//	if err != nil {
//		return err
//	}
//	defer l.Close()
//	for l.Epoch() < epochs {
//		for b, err := range l.Batches(ctx) {
//			if err != nil {
//				return err
//			}
//			train(b)        // b.Sample(i) is valid until the next batch
//			save(b.State)   // some 150 bytes of JSON: a run that is given them begins with the batch after b
//		}
//		if err := l.SetEpoch(l.Epoch() + 1); err != nil {
//			return err
//		}
//	}
//
// Which samples a batch has is a function of the dataset, the seed and the epoch: docs/order.md, [Order]. The samples
// of a step are the same for any number of ranks, each of which takes its part of them.
//
// # Goroutines and memory
//
// While a loop over Batches runs, one goroutine chooses the samples of the next steps and Options.Readers goroutines read a batch
// each by record.Reader.ReadBatch, which compares every sample with its CRC. All have ended when the loop has.
//
//	            ┌─ reader ─┐
//	steps ─►────┤          ├──► batches, in the order of steps ─► loop ─┐
//	            └─ reader ─┘                                            │
//	   ▲                                                                │
//	   └───────────────────── memory of a batch ────────────────────────┘
//
// Options.Prefetch batches lie in memory beside the one that the loop has, of Options.Memory bytes at most. Each is one
// slab, which is used again. Beyond that the loader takes 12 bytes a sample for the headers, 16 MiB for each reader, and what
// Options.Keys and mode Group say.
package loader
