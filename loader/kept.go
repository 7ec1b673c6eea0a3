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

// isURL reports whether a path is the URL of a dataset.
func isURL(path string) bool {
	scheme, _, ok := strings.Cut(path, "://")
	return ok && store.Supports(scheme)
}

// connections are enough for ranges of 100 KB that take 20 ms each.
const connections = 64

// openKept opens a dataset by its URL, and returns the copies of its shards.
func openKept(url string, opts Options) (*cached.Dataset, *lookup.Dataset, []record.FileInfo, error) {
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
	return x, d, files, nil
}

// ahead is how many steps ahead of those that are read it is said what comes.
const ahead = 16

// announce says what the steps before limit read, from the one on that next points to.
func (r *run) announce(ctx context.Context, next *int64, limit int64) {
	for ; *next < min(limit, r.Steps()) && len(r.data.kept) > 0; *next++ {
		r.data.reader.Coming(ctx, r.epoch.batch(nil, *next, r.opts.Rank, r.opts.World))
	}
}
