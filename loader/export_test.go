package loader

// Ordered returns the batches of a rank in an epoch.
func Ordered(shards []int64, opts Order, number uint64, rank, world int) (steps [][]int64, err error) {
	o, err := newOrdering(shards, opts)
	if err != nil {
		return nil, err
	}
	e := o.epoch(number)
	for s := range o.steps() {
		steps = append(steps, e.batch([]int64{}, s, rank, world))
	}
	return steps, nil
}
