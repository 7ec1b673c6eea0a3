package record

import "fmt"

// chunkLen is how many values of a column are allocated at a time: at most 512 KiB.
const chunkLen = 1 << 16

// A column is a list that grows without being copied, so that N values never take the room of more
// than N, and none is reserved before the values before it exist.
type column[T uint32 | int64] struct {
	chunks [][]T
	n      int64
}

// add appends v to a column that will hold total values at most.
func (c *column[T]) add(v T, total int64) {
	if c.n%chunkLen == 0 {
		c.chunks = append(c.chunks, make([]T, 0, min(chunkLen, total-c.n)))
	}
	last := &c.chunks[len(c.chunks)-1]
	*last = append(*last, v)
	c.n++
}

func (c *column[T]) at(i int64) T { return c.chunks[i/chunkLen][i%chunkLen] }

// A table is what a header says: 12 bytes a sample. It is read-only once complete.
type table struct {
	path string
	size int64 // bytes of the file
	n    int64
	sum  uint32 // header CRC as stored
	sums column[uint32]
	offs column[int64]
}

// extent is the place of sample i, 0 ≤ i < n.
func (t *table) extent(i int64) Extent {
	off, end := t.offs.at(i), t.size
	if i+1 < t.n {
		end = t.offs.at(i + 1)
	}
	return Extent{Off: off, Size: end - off, CRC: t.sums.at(i)}
}

// gate is the one comparison of a sample with its CRC; empty samples pass it too.
func (t *table) gate(i int64, e Extent, crc uint32) *FormatError {
	if crc == e.CRC {
		return nil
	}
	return t.fault(i, e.Off, fmt.Errorf("%w: stored %08x, computed %08x over %d bytes", ErrChecksum, e.CRC, crc, e.Size))
}

func (t *table) fault(sample, off int64, err error) *FormatError {
	return &FormatError{Path: t.path, Sample: sample, Off: off, Err: err}
}
