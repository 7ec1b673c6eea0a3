package cached

import (
	"context"
	"errors"
	"slices"

	"github.com/ffconvert/ffconvert/record"
)

// A Reader reads samples of files of which some are the copies of datasets in object stores. Its methods may be called
// concurrently.
type Reader struct {
	*record.Reader
	sets []set
}

// A set is the samples of a dataset among all.
type set struct {
	x          *Dataset
	first, end int64
}

// Add says that the samples from first on are those of x.
func (r *Reader) Add(x *Dataset, first int64) {
	r.sets = append(r.sets, set{x, first, first + x.Len()})
}

// split calls use with the samples of each dataset, by their numbers in it and their places in all.
func (r *Reader) split(all []int64, use func(x *Dataset, numbers []int64, places []int) error) error {
	for _, s := range r.sets {
		var numbers []int64
		var places []int
		for k, i := range all {
			if s.first <= i && i < s.end {
				numbers, places = append(numbers, i-s.first), append(places, k)
			}
		}
		if len(numbers) > 0 {
			if err := use(s.x, numbers, places); err != nil {
				return err
			}
		}
	}
	return nil
}

// Enter makes the headers be here that say where samples lie: [record.Reader.Extent] needs them.
func (r *Reader) Enter(ctx context.Context, samples []int64) error {
	return r.split(samples, func(x *Dataset, numbers []int64, _ []int) error { return x.Enter(ctx, numbers) })
}

// Coming says which samples will be read, in this order, behind those that were said before.
func (r *Reader) Coming(ctx context.Context, samples []int64) {
	_ = r.split(samples, func(x *Dataset, numbers []int64, _ []int) error {
		x.Coming(ctx, numbers)
		return nil
	})
}

// Forget takes back what Coming has said.
func (r *Reader) Forget(ctx context.Context) {
	for _, s := range r.sets {
		s.x.Forget(ctx)
	}
}

// ReadBatch reads samples as [record.Reader.ReadBatch] does: from the files what is in them, and the rest from the process
// that fetches. So is a sample whose copy is damaged.
func (r *Reader) ReadBatch(ctx context.Context, indices []int, memory [][]byte) ([][]byte, error) {
	if len(r.sets) == 0 {
		return r.Reader.ReadBatch(ctx, indices, memory)
	}
	all := make([]int64, len(indices))
	for k, i := range indices {
		all[k] = int64(i)
	}
	if err := r.Enter(ctx, all); err != nil {
		return nil, err
	}
	away := make([]bool, len(indices))
	err := r.split(all, func(x *Dataset, numbers []int64, places []int) error {
		if err := x.bring(ctx, numbers); err != nil {
			return err
		}
		for n, k := range places {
			away[k] = !x.Has(numbers[n])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	memory = slices.Grow(memory, max(0, len(indices)-len(memory)))[:max(len(memory), len(indices))]
	out := make([][]byte, len(indices))
	damaged, err := r.readHere(ctx, indices, memory, away, out)
	if err != nil {
		return nil, err
	}
	err = r.split(all, func(x *Dataset, numbers []int64, places []int) error {
		var missing []int64
		var into [][]byte
		for n, k := range places {
			if out[k] != nil {
				continue
			}
			_, e, err := r.Extent(indices[k])
			if err != nil {
				return err
			}
			out[k] = slices.Grow(memory[k][:0], max(1, int(e.Size)))[:e.Size:e.Size] // not nil, if it is empty
			missing, into = append(missing, numbers[n]), append(into, out[k])
		}
		if len(missing) == 0 {
			return nil
		}
		return x.ReadEach(ctx, missing, into)
	})
	if err != nil {
		return nil, err
	}
	for _, sample := range out {
		if sample == nil {
			return out, damaged
		}
	}
	return out, nil
}

// readHere reads the samples that are not away. damaged is the error of samples that are nil then.
func (r *Reader) readHere(ctx context.Context, indices []int, memory [][]byte, away []bool, out [][]byte) (damaged, err error) {
	var near, places []int
	var into [][]byte
	for k, is := range away {
		if !is {
			near, into, places = append(near, indices[k]), append(into, memory[k]), append(places, k)
		}
	}
	read, err := r.Reader.ReadBatch(ctx, near, into)
	if read == nil && len(near) > 0 {
		return nil, errors.Join(err, ctx.Err())
	}
	for n, k := range places {
		out[k] = read[n]
	}
	return err, nil
}
