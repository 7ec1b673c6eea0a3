package sidecar

import (
	"encoding/binary"
	"fmt"
	"io"
)

// chunkRows is the number of rows per read: 160 KiB and their keys.
const chunkRows = 4096

// chunkKeys caps the bytes of keys per read, unless one key is longer.
const chunkKeys = 1 << 20

// A Row describes a sample. It is valid until the next call of Next, Row or Find.
type Row struct {
	Key     string // "" if the dataset has no keys
	Label   int64
	Labeled bool // the sample has a class, Label
	Placed  bool // Off, Size and CRC are set: the index has these columns

	Off, Size int64 // of the record in the shard, in bytes
	CRC       uint32
	Source    int32 // row of "sources" in the manifest; -1: unknown
	SourceOff int64 // offset in the source, in bytes; -1: unknown, or Reader.SourceOffs is not set
}

// A chunk is consecutive rows of a batch.
type chunk struct {
	layout  *layout
	has     [buffers]bool // buffers of the layout to read
	offsets bool          // set Row.SourceOff
	first   int64         // number in the index of row 0
	next, n int           // row that take returns next, number of rows
	run     int           // index in rule of the run of the last row
	bit     int           // bit of row 0 in data[labeled]
	data    [buffers][]byte
	keys    string // keys of all rows, concatenated; "" until the first is taken
	row     Row
}

// want selects the buffers to read: with keysAlone the keys, else all but the ordinals, and sourceOff only if offsets. It clears
// the row.
func (c *chunk) want(offsets, keysAlone bool) {
	c.has, c.offsets, c.row = c.layout.has, offsets, Row{}
	c.has[ordinal], c.has[sourceOff] = false, c.has[sourceOff] && offsets
	if keysAlone {
		c.has = [buffers]bool{keyEnds: c.layout.has[keyEnds]}
	}
}

// read reads count rows of a batch from row first on, fewer if their keys are long. The batch must have the rows.
func (c *chunk) read(file io.ReaderAt, b *batch, first, count int64) error {
	from := first - b.first // in the batch
	c.first, c.next, c.n = first, 0, 0
	for _, k := range known {
		if !c.has[k.value] {
			continue
		}
		n := count
		if k.value == keyEnds {
			n++
		}
		if err := c.readAt(file, b, k.value, from*k.width, n*k.width); err != nil {
			return err
		}
		if k.value == keyEnds { // the first column of known
			count = c.within(count)
		}
	}
	if err := c.checkPlaces(int(count)); err != nil {
		return err
	}
	c.bit = int(from % 8)
	c.data[labeled] = c.data[labeled][:0]
	if c.has[label] && b.at[labeled].Size > 0 {
		if err := c.readAt(file, b, labeled, from/8, (from+count+7)/8-from/8); err != nil {
			return err
		}
	}
	if c.has[keyEnds] {
		if err := c.readKeys(file, b, int(count)); err != nil {
			return err
		}
	}
	c.n = int(count)
	return nil
}

// within returns how many of the first count rows have at most chunkKeys bytes of keys together, at least 1. It needs
// data[keyEnds].
func (c *chunk) within(count int64) int64 {
	start := int64(c.keyEnd(0))
	if int64(c.keyEnd(int(count)))-start <= chunkKeys {
		return count
	}
	n := int64(1)
	for n+1 < count && int64(c.keyEnd(int(n+1)))-start <= chunkKeys {
		n++
	}
	return n
}

// readKeys reads the keys of the rows. It needs data[keyEnds].
func (c *chunk) readKeys(file io.ReaderAt, b *batch, count int) error {
	start := c.keyEnd(0)
	for i, last := 1, start; i <= count; i++ {
		end := c.keyEnd(i)
		if last < 0 || end < last || int64(end) > b.at[keyText].Size {
			return errShort
		}
		last = end
	}
	if err := c.readAt(file, b, keyText, int64(start), int64(c.keyEnd(count)-start)); err != nil {
		return err
	}
	c.keys = ""
	return nil
}

// checkPlaces refuses negative offsets and lengths.
func (c *chunk) checkPlaces(count int) error {
	if !c.has[offset] {
		return nil
	}
	for i := range count {
		if off, size := c.int64(offset, i), c.int64(length, i); off < 0 || size < 0 {
			return fmt.Errorf("%w: row %d has %d bytes at byte %d", ErrMalformed, c.first+int64(i), size, off)
		}
	}
	return nil
}

// key returns the key of row i, valid until the next read.
func (c *chunk) key(i int) []byte {
	start := c.keyEnd(0)
	return c.data[keyText][c.keyEnd(i)-start : c.keyEnd(i+1)-start]
}

func (c *chunk) keyEnd(i int) int32 { return int32(binary.LittleEndian.Uint32(c.data[keyEnds][4*i:])) }

// readAt reads a range of a buffer to c.data. The range must be inside the buffer.
func (c *chunk) readAt(file io.ReaderAt, b *batch, buffer int, off, size int64) error {
	if int64(cap(c.data[buffer])) < size {
		c.data[buffer] = make([]byte, size)
	}
	c.data[buffer] = c.data[buffer][:size]
	n, err := file.ReadAt(c.data[buffer], b.at[buffer].Off+off)
	if int64(n) == size {
		return nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// take returns the next row. c.next must be less than c.n.
func (c *chunk) take() *Row {
	i := c.next
	c.next++
	has, r := &c.has, &c.row
	r.Label, r.Labeled, r.Placed, r.Source, r.SourceOff = 0, false, has[offset], -1, -1 // the other members are set for all rows or for none
	if has[keyEnds] {
		if c.keys == "" {
			c.keys = string(c.data[keyText])
		}
		start := c.keyEnd(0)
		r.Key = c.keys[c.keyEnd(i)-start : c.keyEnd(i+1)-start]
	}
	if bit := c.bit + i; has[label] && (len(c.data[labeled]) == 0 || c.data[labeled][bit/8]>>(bit%8)&1 == 1) {
		r.Label, r.Labeled = c.int64(label, i), true
	}
	if r.Placed {
		r.Off, r.Size, r.CRC = c.int64(offset, i), c.int64(length, i), binary.LittleEndian.Uint32(c.data[crc][4*i:])
	}
	if has[source] {
		r.Source = int32(binary.LittleEndian.Uint32(c.data[source][4*i:]))
	} else if c.layout.rule != nil {
		c.applyRule(c.first + int64(i))
	}
	if has[sourceOff] {
		r.SourceOff = c.int64(sourceOff, i)
	}
	return r
}

func (c *chunk) int64(buffer, i int) int64 {
	return int64(binary.LittleEndian.Uint64(c.data[buffer][8*i:]))
}
