package parquet

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
)

// batchValues is how many levels and numbers of a page a cursor decodes at once.
const batchValues = 256

// A batch is decoded values of a page: their levels, and of a leaf of numbers those that are not null.
type batch struct {
	at, n      int      // the next value, and how many there are
	reps, defs []uint32 // nil if the leaf has no such levels
	numbers    []uint64
	number     int   // the next one of numbers
	nulls      bool  // some values are null
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
		b.nulls = n < b.n
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

// run returns how many of the next values are decoded numbers, at least one.
func (c *cursor) run() (int, error) {
	more, err := c.more()
	if err == nil && !more {
		err = errRows
	}
	if err == nil {
		err = c.fill()
	}
	if err != nil {
		return 0, err
	}
	b := &c.batch
	n := b.n - b.at
	if b.nulls {
		if n = slices.IndexFunc(b.defs[b.at:b.n], func(def uint32) bool { return int(def) < c.leaf.def }); n < 0 {
			n = b.n - b.at
		}
	}
	if n == 0 {
		return 0, place.WithHint(fmt.Errorf("%w: a null among rows of numbers, which are packed", converters.ErrUnsupported), "option encode msgpack takes any value")
	}
	return n, nil
}

// put consumes n numbers of a run. It writes them to columns of width bytes that are stride bytes apart.
func (c *cursor) put(to []byte, n, width, stride int) {
	b := &c.batch
	for _, v := range b.numbers[b.number : b.number+n] {
		if width == 4 {
			binary.LittleEndian.PutUint32(to, uint32(v))
		} else {
			binary.LittleEndian.PutUint64(to, v)
		}
		to = to[min(stride, len(to)):]
	}
	b.number += n
	b.at += n
	c.left -= int64(n)
}
