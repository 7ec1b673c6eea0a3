package loader

import (
	"github.com/ffconvert/ffconvert/converters"
)

// A Batch has the samples of one rank in one step. It and its memory are valid until the next iteration, which may
// reuse them; see [Batch.Keep]. A rank may have no samples in a step: see docs/order.md.
type Batch struct {
	Data    []byte   // the slab: concatenated records
	Offsets []int64  // Sample i is Data[Offsets[i]:Offsets[i+1]]
	Indices []int64  // numbers of the samples in the concatenated datasets
	Keys    []string // keys of the samples; empty unless Options.Keys is set. They stay valid
	Damaged []error  // errors of the samples that were skipped: see Options.SkipDamaged
	State   State

	fields  int
	values  []converters.Value
	slab    []byte // the memory of Data, with full capacity
	size    int64  // bytes of the step, including damaged samples
	skipped int64
	kept    bool
	done    chan struct{} // receives a value when the batch has been read
	err     error
}

// Len returns the number of samples.
func (b *Batch) Len() int { return len(b.Indices) }

// Sample returns the record of sample i.
func (b *Batch) Sample(i int) []byte {
	return b.Data[b.Offsets[i]:b.Offsets[i+1]:b.Offsets[i+1]]
}

// Field returns field Options.Fields[f] of sample i. Its bytes or text are in Data.
func (b *Batch) Field(i, f int) *converters.Value { return &b.values[i*b.fields+f] }

// Keep gives the batch to the caller; the loader allocates new memory instead. Call it in the body of the loop.
func (b *Batch) Keep() { b.kept = true }

// prepare sets b to the samples of a step, without reading them.
func (b *Batch) prepare(samples []int64, offsets []int64, state State) {
	b.Indices, b.Offsets = append(b.Indices[:0], samples...), append(b.Offsets[:0], offsets...)
	b.Data = b.slab[:b.size]
	b.Keys, b.values, b.Damaged, b.err = b.Keys[:0], b.values[:0], nil, nil
	b.State = state
}

// drop removes samples without a record from Data, and returns their number.
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
