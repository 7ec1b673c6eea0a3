package lookup

import (
	"context"
	"iter"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/internal/sidecar"
)

// Find yields the samples that have a key, in order: several where a key occurs several times. It reads the keys of all samples.
// It compares all indexes with their checksums before the first if whole, and if it finds nothing. Without whole, where an index
// is damaged, one of several samples that have the key may be missed, and what is found may have another one: Record finds that.
func (d *Dataset) Find(ctx context.Context, key string, whole bool) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		if whole && !checkIndexes(ctx, d, yield) {
			return
		}
		found := false
		for r, err := range d.search(ctx, key) {
			if found = true; err == nil {
				r.doubt = !whole
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
		if !whole && !found {
			checkIndexes(ctx, d, yield)
		}
	}
}

// checkIndexes yields the first damage, and reports whether there is none.
func checkIndexes(ctx context.Context, d *Dataset, yield func(*Row, error) bool) bool {
	for k := range d.shards {
		if err := d.CheckIndex(ctx, &Row{shard: k}); err != nil {
			yield(nil, err)
			return false
		}
	}
	return true
}

// Several pieces of indexes are searched at once, so that a device gets several requests at a time. Each takes up to 1.2 MiB.
const (
	searchers  = 8
	pieceRows  = 1 << 18 // at least
	mostPieces = 64      // of an index: its number of rows, which the manifest has, may be wrong
	keptRows   = 16      // of a piece: few samples have one key, and then its index is opened once
)

// A piece is consecutive samples of a shard.
type piece struct {
	shard      int
	first, end int64 // what is left to search
	rows       []*Row
	err        error // after rows
}

// search yields the samples that have one of the keys, in order. An error is the last of them.
func (d *Dataset) search(ctx context.Context, keys ...string) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		var pieces []piece
		for k := range d.shards {
			for n, i := d.shards[k].samples, int64(0); i < n && d.shards[k].index != ""; {
				p := piece{shard: k, first: i, end: i + min(n-i, max(pieceRows, n/mostPieces+1))}
				pieces, i = append(pieces, p), p.end
			}
		}
		var g errgroup.Group
		g.SetLimit(searchers)
		for i := range pieces {
			g.Go(func() error {
				p := &pieces[i]
				done := d.searchPiece(ctx, *p, keys, func(r *Row, err error) bool {
					if p.err = err; err == nil {
						p.rows, p.first = append(p.rows, r), r.sample+1
					}
					return len(p.rows) < keptRows
				})
				if done {
					p.first = p.end
				}
				return nil
			})
		}
		g.Wait()
		for _, p := range pieces {
			for _, r := range p.rows {
				if !yield(r, nil) {
					return
				}
			}
			if p.err != nil {
				yield(nil, p.err)
				return
			}
			if p.first < p.end && !d.searchPiece(ctx, p, keys, yield) {
				return
			}
		}
	}
}

// searchPiece yields the samples of a piece that have one of the keys, in order. An error is the last of them. It returns false if
// yield did, or after an error.
func (d *Dataset) searchPiece(ctx context.Context, p piece, keys []string, yield func(*Row, error) bool) bool {
	if ctx.Err() != nil {
		yield(nil, ctx.Err())
		return false
	}
	x, err := d.opts.openIndex(&d.shards[p.shard])
	if err != nil {
		yield(nil, err)
		return false
	}
	defer x.close()
	if f, ok := x.file.(*os.File); ok {
		aio.ReadAhead(f, false) // which reads the other columns, too
	}
	if p.first > 0 {
		x.rows.SkipTo(p.first)
	}
	x.rows.SourceOffs = true
	for {
		i, err := x.rows.Find(ctx, keys, p.end)
		if i >= p.end && err == nil {
			return true
		}
		r := new(Row)
		if err == nil {
			var said *sidecar.Row
			if said, err = x.rows.Row(i); err == nil {
				r.place(d, p.shard, i)
				r.set(said)
			}
		}
		if err != nil && ctx.Err() == nil {
			err = x.fail(err)
		}
		if !yield(r, err) || err != nil {
			return false
		}
	}
}

// Near returns a key that was probably meant by another one, which is not there: it may be the name of a file, or
// lack a directory. It is "" if there is none.
func (d *Dataset) Near(ctx context.Context, key string) (near string, err error) {
	dir, base := path.Split(key)
	name, _, _ := strings.Cut(base, ".")
	likely := []string{dir + name, strings.TrimSuffix(key, path.Ext(base)), "./" + key, strings.TrimPrefix(key, "./"), "./" + dir + name, base, name, strings.ToLower(key)}
	likely = slices.DeleteFunc(likely, func(s string) bool { return s == key || s == "" })
	best := len(likely)
	for r, err := range d.search(ctx, likely...) {
		if err != nil {
			return "", ctx.Err()
		}
		if at := slices.Index(likely, r.Key); at < best {
			near, best = r.Key, at
		}
	}
	return near, nil
}
