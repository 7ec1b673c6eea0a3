package lookup

import (
	"context"
	"sync/atomic"
)

// A shared is what a dataset and its forks have in common.
type shared struct {
	tables chan struct{} // has an element while a table is made
	made   atomic.Int64  // tables
}

func newShared() *shared { return &shared{tables: make(chan struct{}, 1)} }

// newTable makes the table of the dataset, or opens the one that a fork has made since there were so many.
func (d *Dataset) newTable(ctx context.Context, made int64) (*table, error) {
	select {
	case d.shared.tables <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-d.shared.tables }()
	if d.shared.made.Load() == made {
		if err := d.buildTable(ctx); err != nil {
			return nil, err
		}
		d.shared.made.Add(1)
	}
	return d.openTable()
}
