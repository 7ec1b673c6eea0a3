package loader

import (
	"github.com/ffconvert/ffconvert/converters"
)

// A Batch is what a rank takes in one step. It and its memory are the loop's until the next batch is asked for, and are then
// filled again; see [Batch.Keep]. A rank may have no samples in a step: see docs/order.md.
type Batch struct {
	Data    []byte   // the slab: records behind one another
	Offsets []int64  // Sample i is Data[Offsets[i]:Offsets[i+1]]
	Indices []int64  // numbers of the samples in the datasets together
	Keys    []string // of the samples; empty without Options.Keys. They stay valid
	Damaged []error  // of the samples that were left out: see Options.SkipDamaged
	State   State

	fields  int
	values  []converters.Value
	slab    []byte // all of the memory of Data
	size    int64  // bytes of the step, damaged samples too
	skipped int64
	kept    bool
	done    chan struct{} // takes a value when the batch is read
	err     error
}

// Len returns the number of samples.
func (b *Batch) Len() int { return len(b.Indices) }

// Sample returns the record of sample i of the batch.
func (b *Batch) Sample(i int) []byte {
	return b.Data[b.Offsets[i]:b.Offsets[i+1]:b.Offsets[i+1]]
}

// Field returns a field of sample i of the batch: number f of Options.Fields. Bytes and text of it are in Data.
func (b *Batch) Field(i, f int) *converters.Value { return &b.values[i*b.fields+f] }

// Keep makes the batch the caller's for good: the loader takes new memory in its place. It is for the body of the loop.
func (b *Batch) Keep() { b.kept = true }

// prepare sets b to the samples of a step, which are not read yet.
func (b *Batch) prepare(samples []int64, offsets []int64, state State) {
	b.Indices, b.Offsets = append(b.Indices[:0], samples...), append(b.Offsets[:0], offsets...)
	b.Data = b.slab[:b.size]
	b.Keys, b.values, b.Damaged, b.err = b.Keys[:0], b.values[:0], nil, nil
	b.State = state
}

// drop closes the gaps of the samples that have no record, and returns their number.
func (b *Batch) drop(records [][]byte) (dropped int64) {
	n, end := 0, int64(0)
	for k, r := range records {
		if r == nil {
			continue
		}
		copy(b.Data[end:], r)
		b.Offsets[n], b.Indices[n] = end, b.Indices[k]
		end += int64(len(r))
		n++
	}
	dropped = int64(len(records) - n)
	b.Offsets[n] = end
	b.Offsets, b.Indices, b.Data = b.Offsets[:n+1], b.Indices[:n], b.Data[:end]
	return dropped
}
