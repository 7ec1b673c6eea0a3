package lookup

import (
	"context"
	"errors"
	"iter"
	"path"
	"strings"

	"github.com/ffconvert/ffconvert/internal/sidecar"
)

// fewSamples are searched from the first on: that takes less than 20 ms, and leaves nothing behind.
const fewSamples = 1 << 17

// Find yields the samples that have a key, in order: several where a key occurs several times. In a dataset of more
// than 131,072 samples it looks into the table of keys, which is made where there is none: one pass over all indexes,
// 8 bytes of memory a sample, 128 MiB at most. Where the table cannot be written, indexes are searched. Of several forks one
// makes it.
func (d *Dataset) Find(ctx context.Context, key string) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		next := int64(0) // samples before it are done
		use := func(r *Row) bool {
			next = r.Number + 1
			r.Key = key // not in the memory of the index
			return yield(r, nil)
		}
		made := d.keys.made.Load()
		build := func() (*table, error) { return d.keys.make(ctx, made, d.keys.progress) }
		for _, open := range []func() (*table, error){d.keys.open, build} {
			if d.Len() <= d.few || ctx.Err() != nil {
				break
			}
			t, err := open()
			if err != nil {
				if keyed, err := d.Keyed(); err == nil && !keyed {
					return
				}
				continue // a damaged table is made anew; damage of an index is found again below
			}
			err = d.findIn(ctx, t, key, next, use)
			t.close()
			if err == nil {
				return
			}
		}
		for r, err := range d.Walk(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			if r.Number >= next && r.Key == key && !use(r) {
				return
			}
		}
	}
}

// findIn finds the samples from number next on by a table. The index says which candidates have the key.
func (d *Dataset) findIn(ctx context.Context, t *table, key string, next int64, use func(*Row) bool) error {
	var x *index
	defer func() {
		if x != nil {
			x.close()
		}
	}()
	r := new(Row)
	return t.candidates(ctx, key, func(n int64) (bool, error) {
		if n < next {
			return true, nil
		}
		k, i := d.find(n)
		if x == nil || r.shard != k {
			if x != nil {
				x.close()
				x = nil
			}
			var err error
			if x, err = d.opts.openIndex(&d.shards[k]); err != nil {
				return false, err
			}
			x.rows.Want = sidecar.Everything
		}
		r.place(d, k, i)
		x.rows.SkipTo(i)
		said, err := x.rows.Row(i)
		if err != nil {
			return false, x.fail(err)
		}
		if r.set(said); r.Key != key { // another key of nearly the same hash, or the index is damaged
			return true, x.check()
		}
		return use(r), nil
	})
}

// Near returns a key that was probably meant by another one, which is not there: it may be the name of a file, or
// lack a directory. It is "" if there is none, or if the search would take long.
func (d *Dataset) Near(ctx context.Context, key string) (string, error) {
	if d.Len() > d.few {
		t, err := d.keys.open()
		if err != nil {
			return "", nil
		}
		t.close()
	}
	dir, base := path.Split(key)
	name, _, _ := strings.Cut(base, ".")
	for _, other := range []string{dir + name, strings.TrimSuffix(key, path.Ext(base)), "./" + key, strings.TrimPrefix(key, "./"), "./" + dir + name, base, name, strings.ToLower(key)} {
		if other == key || other == "" {
			continue
		}
		for r, err := range d.Find(ctx, other) {
			if err != nil {
				return "", errors.Join(ctx.Err())
			}
			return r.Key, nil
		}
	}
	return "", nil
}
