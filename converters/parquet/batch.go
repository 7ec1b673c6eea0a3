package parquet

import "fmt"

// batchValues is how many levels and numbers of a page a cursor decodes at once.
const batchValues = 256

// A batch is decoded values of a page: their levels, and of a leaf of numbers those that are not null.
type batch struct {
	at, n      int      // the next value, and how many there are
	reps, defs []uint32 // nil if the leaf has no such levels
	numbers    []uint64
	number     int   // the next one of numbers
	err        error // of the value after the last one
}

// fill decodes the next values of the page if the batch is empty. If one of them cannot be decoded, the batch ends before
// it, so that an error has the place of its value.
func (c *cursor) fill() error {
	b := &c.batch
	if b.at < b.n {
		return nil
	}
	if b.err != nil {
		return b.err
	}
	b.at, b.n, b.number = 0, int(min(c.left, batchValues)), 0
	b.reps = b.levels(b.reps, &c.reps, c.leaf.rep)
	b.defs = b.levels(b.defs, &c.defs, c.leaf.def)
	if c.numeric {
		if b.numbers == nil {
			b.numbers = make([]uint64, batchValues)
		}
		n := c.present(b.n)
		if k, err := c.numbers.read(b.numbers[:n]); err != nil {
			for b.err = malformed(err); n > k; n = c.present(b.n) {
				b.n--
			}
		}
	}
	if b.n == 0 {
		return b.err
	}
	return nil
}

// levels decodes the levels of the batch, from 0 to most, into memory that may be reused.
func (b *batch) levels(to []uint32, from *runs, most int) []uint32 {
	if most == 0 {
		return nil
	}
	if to == nil {
		to = make([]uint32, batchValues)
	}
	n, err := from.read(to[:b.n])
	for i, level := range to[:n] {
		if level > uint32(most) {
			n, err = i, fmt.Errorf("a level of %d", level)
			break
		}
	}
	if err != nil {
		b.n, b.err = n, malformed(err)
	}
	return to
}

// present returns how many of the first n values that are left are not null.
func (c *cursor) present(n int) int {
	if c.leaf.def == 0 {
		return n
	}
	all := 0
	for _, def := range c.batch.defs[c.batch.at : c.batch.at+n] {
		if int(def) == c.leaf.def {
			all++
		}
	}
	return all
}

// drop consumes n values of the batch, numbers or nulls.
func (c *cursor) drop(n int) {
	c.batch.number += c.present(n)
	c.batch.at += n
	c.left -= int64(n)
}
