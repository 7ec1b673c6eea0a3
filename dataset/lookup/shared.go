package lookup

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ffconvert/ffconvert/internal/sidecar"
)

// keptFinders is how many indexes are known at a time: where the batches of one lie takes 25 bytes for 1,000 samples.
const keptFinders = 8

// A shared is what a dataset and its forks have in common.
type shared struct {
	tables chan struct{} // has an element while a table is made
	made   atomic.Int64  // tables

	mu      sync.Mutex
	finders []finder // the last used first
}

// A finder knows where the batches of the index of a shard lie.
type finder struct {
	shard int
	*sidecar.Finder
}

func newShared() *shared { return &shared{tables: make(chan struct{}, 1)} }

// finder returns the finder of the index of shard k, which is open as x.
func (d *Dataset) finder(k int, x *index) (*sidecar.Finder, error) {
	s := d.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.finders, func(f finder) bool { return f.shard == k })
	var f finder
	if at >= 0 {
		f = s.finders[at]
		s.finders = slices.Delete(s.finders, at, at+1)
	} else {
		found, err := sidecar.Find(x.file, x.want.Bytes, d.shards[k].samples)
		if err != nil {
			return nil, x.fail(err)
		}
		f = finder{k, found}
	}
	s.finders = slices.Insert(s.finders[:min(len(s.finders), keptFinders-1)], 0, f)
	return f.Finder, nil
}

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
