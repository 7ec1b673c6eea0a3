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
	full       uint32   // definition level of a value that is not null
	numbers    []uint64
	number     int   // the next one of numbers
	err        error // of the value after the last one
}

func (b *batch) left() int { return b.n - b.at }

// more decodes the next values if the batch is empty. It returns false at the end of the chunk. If a value cannot be
// decoded, the batch ends before it, so that an error has the place of its value.
func (c *cursor) more() (bool, error) {
	b := &c.batch
	if b.left() > 0 {
		return true, nil
	}
	if b.err != nil {
		return false, b.err
	}
	for c.left == 0 {
		if err := c.finish(); err != nil || c.unread == 0 {
			return false, err
		}
		if _, err := c.turn(0); err != nil {
			return false, err
		}
	}
	b.at, b.n, b.number, b.full = 0, int(min(c.left, batchValues)), 0, uint32(c.leaf.def)
	c.left -= int64(b.n)
	b.reps = b.levels(b.reps, &c.reps, c.leaf.rep)
	b.defs = b.levels(b.defs, &c.defs, c.leaf.def)
	if c.numeric {
		if b.numbers == nil {
			b.numbers = make([]uint64, batchValues)
		}
		n := b.present(b.n)
		if k, err := c.numbers(b.numbers[:n]); err != nil {
			for b.err = malformed(err); n > k; n = b.present(b.n) {
				b.n--
			}
		}
	}
	if b.n == 0 {
		return false, b.err
	}
	return true, nil
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

// present returns how many of the next n values are not null.
func (b *batch) present(n int) int {
	if b.defs == nil {
		return n
	}
	all := 0
	for _, def := range b.defs[b.at : b.at+n] {
		if def == b.full {
			all++
		}
	}
	return all
}

// drop consumes n values.
func (b *batch) drop(n int) {
	b.number += b.present(n)
	b.at += n
}

// put consumes n numbers. It writes them to columns of width bytes that are stride bytes apart.
func (b *batch) put(to []byte, n, width, stride int) {
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
}

// run returns how many of the next values are decoded, at least one. If rows are packed, they must be numbers.
func (c *cursor) run(packed bool) (int, error) {
	more, err := c.more()
	if err == nil && !more {
		err = errRows
	}
	if err != nil {
		return 0, err
	}
	b := &c.batch
	n := b.left()
	if packed && b.present(n) < n {
		n = slices.IndexFunc(b.defs[b.at:b.n], func(def uint32) bool { return def < b.full })
	}
	if n == 0 {
		return 0, place.WithHint(fmt.Errorf("%w: a null among rows of numbers, which are packed", converters.ErrUnsupported), "option encode msgpack takes any value")
	}
	return n, nil
}
