package sidecar

import "context"

// findRows is the number of rows per read of Find: 128 KiB, and up to chunkKeys of keys.
const findRows = 32 << 10

// Find moves to the next row that has one of the keys, and returns its number, or end or more if no row before end has one. The
// index must have the row before end. It reads the keys alone: [Reader.Row], not Next, then reads the row that was found.
//
// The last byte of a key is compared before the rest: keys of one dataset mostly begin alike.
func (x *Reader) Find(ctx context.Context, keys []string, end int64) (n int64, err error) {
	for c := &x.chunk; x.Keyed(); {
		for c.next < c.n {
			key := c.key(c.next)
			c.next++
			for _, want := range keys {
				if last := len(want) - 1; last == len(key)-1 && (last < 0 || key[last] == want[last] && string(key) == want) {
					return c.first + int64(c.next) - 1, nil
				}
			}
		}
		if x.next >= end || ctx.Err() != nil {
			return end, ctx.Err()
		}
		if err := x.read(findRows, true); err != nil {
			return 0, err
		}
	}
	return end, nil
}
