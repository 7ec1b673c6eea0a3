package loader

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/dataset/cached"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/record"
)

// A kept is a dataset in an object store, whose samples are kept on this machine.
type kept struct {
	*cached.Dataset
	first, end int64 // numbers of its samples
}

// isURL reports whether a path is the URL of a dataset.
func isURL(path string) bool {
	scheme, _, ok := strings.Cut(path, "://")
	return ok && store.Supports(scheme)
}

// connections are enough for ranges of 100 KB that take 20 ms each.
const connections = 64

// openKept opens a dataset by its URL, and returns the copies of its shards.
func openKept(url string, opts Options) (*kept, *lookup.Dataset, []record.FileInfo, error) {
	if opts.Cache == "" {
		return nil, nil, nil, fmt.Errorf("%s: a dataset in an object store is read through a cache on this machine: set Options.Cache, or copy it first", store.Redact(url))
	}
	x, err := cached.Open(context.Background(), url, cached.Options{
		Dir: opts.Cache, Size: opts.CacheSize, Store: store.New(store.Options{Connections: connections}), Warn: opts.Warn,
	})
	if err != nil {
		return nil, nil, nil, err
	}
	d, err := lookup.Open(x.Path(), lookup.Options{Record: opts.Record, Encoding: opts.Encoding, Open: x.OpenIndex, URL: strings.TrimRight(store.Redact(url), "/")})
	var files []record.FileInfo
	if err == nil {
		files, err = x.Files()
	}
	if err != nil {
		return nil, nil, nil, errors.Join(err, x.Close())
	}
	return &kept{Dataset: x}, d, files, nil
}

// split calls use with the samples of each dataset in an object store, by their numbers in it and their places in all.
func (d *data) split(all []int64, use func(x *kept, numbers []int64, places []int) error) error {
	for _, x := range d.kept {
		var numbers []int64
		var places []int
		for k, i := range all {
			if x.first <= i && i < x.end {
				numbers, places = append(numbers, i-x.first), append(places, k)
			}
		}
		if len(numbers) > 0 {
			if err := use(x, numbers, places); err != nil {
				return err
			}
		}
	}
	return nil
}

// enter makes the headers be here that are needed to find samples.
func (d *data) enter(ctx context.Context, samples []int64) error {
	return d.split(samples, func(x *kept, numbers []int64, _ []int) error { return x.Enter(ctx, numbers) })
}

// readBatch reads samples as [record.Reader.ReadBatch] does: from the copies what is in them, else from the process that
// fetches.
func (d *data) readBatch(ctx context.Context, indices []int, memory [][]byte) ([][]byte, error) {
	if len(d.kept) == 0 {
		return d.reader.ReadBatch(ctx, indices, memory)
	}
	all := make([]int64, len(indices))
	for k, i := range indices {
		all[k] = int64(i)
	}
	out, here := make([][]byte, len(indices)), make([]bool, len(indices))
	for k := range here {
		here[k] = true
	}
	err := d.split(all, func(x *kept, numbers []int64, places []int) error {
		for n, k := range places {
			here[k] = x.Has(numbers[n])
		}
		return nil
	})
	var near []int
	var nearMemory [][]byte
	var places []int
	for k, is := range here {
		if is {
			near, nearMemory, places = append(near, indices[k]), append(nearMemory, memory[k]), append(places, k)
		}
	}
	read, failed := d.reader.ReadBatch(ctx, near, nearMemory)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for n, k := range places {
		if read != nil {
			out[k] = read[n]
		}
	}
	lost := false // a sample that is not in an object store
	err = errors.Join(err, d.split(all, func(x *kept, numbers []int64, places []int) error {
		var missing []int64
		var into [][]byte
		for n, k := range places {
			if out[k] == nil {
				missing, into, out[k] = append(missing, numbers[n]), append(into, memory[k]), memory[k]
			}
		}
		if len(missing) == 0 {
			return nil
		}
		return x.ReadEach(ctx, missing, into)
	}))
	for _, sample := range out {
		lost = lost || sample == nil
	}
	if err != nil {
		return nil, err
	}
	if lost {
		return out, failed
	}
	return out, nil
}

// ahead is how many steps ahead of those that are read it is said what comes.
const ahead = 16

// announce says what the steps before limit read, from the one on that next points to.
func (r *run) announce(ctx context.Context, next *int64, limit int64) {
	for ; *next < min(limit, r.Steps()) && len(r.data.kept) > 0; *next++ {
		samples := r.epoch.batch(nil, *next, r.opts.Rank, r.opts.World)
		_ = r.data.split(samples, func(x *kept, numbers []int64, _ []int) error {
			x.Coming(ctx, numbers)
			return nil
		})
	}
}
