package sidecar

import (
	"bytes"
	"cmp"
	"context"
	"slices"
)

// findBytes is how many bytes of the keys of a batch are searched at a time.
const findBytes = 1 << 20

// Find returns the next row that has one of the keys, and its number; that number is end or more, and the row nil, if no row before
// end has one. The index must have the row before end.
//
// Find reads the text of all keys alone, and the rows of those batches whose text has one of the keys somewhere.
func (x *Reader) Find(ctx context.Context, keys []string, end int64) (n int64, row *Row, err error) {
	for c := &x.chunk; x.Keyed(); {
		if c.next == c.n {
			if err := x.pass(ctx, keys, end); err != nil || x.next >= end {
				return end, nil, err
			}
		}
		if row, err = x.Next(); err != nil || slices.Contains(keys, row.Key) {
			return c.first + int64(c.next) - 1, row, err
		}
	}
	return end, nil, nil
}

// pass moves past the batches without the keys, to end or more at most. It searches a batch once.
func (x *Reader) pass(ctx context.Context, keys []string, end int64) error {
	for x.next < end {
		if err := cmp.Or(ctx.Err(), x.find(x.next)); err != nil || x.searched == x.batch.end {
			return err
		}
		x.searched = x.batch.end
		if likely, err := x.likely(keys); likely || err != nil {
			return err
		}
		x.next = x.batch.end
	}
	return nil
}

// likely reports whether one of the keys is somewhere in the text of the batch: of one key, or across several.
func (x *Reader) likely(keys []string) (bool, error) {
	longest := len(slices.MaxFunc(keys, func(a, b string) int { return len(a) - len(b) }))
	for off, size := int64(0), x.batch.at[keyText].Size; off == 0 || off < size; off += findBytes {
		if err := x.chunk.readAt(x.file, &x.batch, keyText, off, min(size-off, findBytes+int64(longest))); err != nil {
			return false, err
		}
		text := x.chunk.data[keyText]
		if slices.ContainsFunc(keys, func(key string) bool { return bytes.Contains(text, []byte(key)) }) {
			return true, nil
		}
	}
	return false, nil
}
