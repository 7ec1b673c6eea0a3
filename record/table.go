package record

import "fmt"

// chunkLen is the number of values of a column allocated at a time, at most 512 KiB.
const chunkLen = 1 << 16

// A column is a list that grows in chunks. It never copies values and never allocates much more
// memory than its values need, whatever length the header claims.
type column[T uint32 | int64] struct {
	chunks [][]T
	n      int64
}

// add appends v to a column of at most total values.
func (c *column[T]) add(v T, total int64) {
	if c.n%chunkLen == 0 {
		c.chunks = append(c.chunks, make([]T, 0, min(chunkLen, total-c.n)))
	}
	last := &c.chunks[len(c.chunks)-1]
	*last = append(*last, v)
	c.n++
}

func (c *column[T]) at(i int64) T { return c.chunks[i/chunkLen][i%chunkLen] }

// A table is a parsed header, with 12 bytes per sample. It is read-only once it is complete.
type table struct {
	path string
	size int64          // of the file in bytes
	n    int64          // samples
	sum  uint32         // header CRC as stored
	crc  uint32         // header CRC as computed; until the header is complete, of its bytes so far
	sums column[uint32] // CRC of each sample
	offs column[int64]  // offset of each sample
}

// extent returns the extent of sample i, 0 ≤ i < n.
func (t *table) extent(i int64) Extent {
	off, end := t.offs.at(i), t.size
	if i+1 < t.n {
		end = t.offs.at(i + 1)
	}
	return Extent{Off: off, Size: end - off, CRC: t.sums.at(i)}
}

// gate compares crc, computed over sample i, with the stored CRC. It returns nil if they are equal.
func (t *table) gate(i int64, e Extent, crc uint32) *FormatError {
	if crc == e.CRC {
		return nil
	}
	return t.fault(i, e.Off, fmt.Errorf("%w: stored %08x, computed %08x over %d bytes", ErrChecksum, e.CRC, crc, e.Size))
}

func (t *table) fault(sample, off int64, err error) *FormatError {
	return &FormatError{Path: t.path, Sample: sample, Off: off, Err: err}
}
