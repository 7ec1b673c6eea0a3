package sidecar

import (
	"encoding/binary"
	"fmt"
	"io"
)

// chunkRows is how many rows are read at once: 160 KiB and their keys.
const chunkRows = 4096

// chunkKeys is how many bytes of keys are read at once, unless one key is longer.
const chunkKeys = 1 << 20

// A Row is what an index says of a sample. It is valid until the next one.
type Row struct {
	Key     string // "" if the dataset has no keys
	Label   int64
	Labeled bool // the sample has a class, Label
	Placed  bool // the index has the columns of places, so that the three are set

	Off, Size int64 // of the record in the shard, in bytes
	CRC       uint32
	Source    int32 // row of "sources" in the manifest; -1 if the index does not say
	SourceOff int64 // where it begins there, in bytes; -1 if the index does not say, or unless Everything is wanted
}

// want says what is read of rows: each column is a read of its own.
type want int

const (
	usual      want = iota // all but SourceOff
	Everything             // SourceOff too
	KeysAlone              // Key; other members are as if the index did not say
)

// wants reports whether the values in a buffer are read.
func (w want) wants(buffer int) bool {
	switch buffer {
	case keyEnds:
		return true
	case sourceOff:
		return w == Everything
	case ordinal:
		return false
	}
	return w != KeysAlone
}

// A chunk is consecutive rows of a batch.
type chunk struct {
	layout  *layout
	has     [buffers]bool // of those of the layout, what is wanted
	rule    []run         // of the layout, if it is wanted
	offsets bool          // SourceOff is wanted
	first   int64         // number of row 0
	next, n int           // of the rows that were read
	run     int           // of the rule, of the last row
	bit     int           // of labeled, of row 0
	data    [buffers][]byte
	keys    string // of all rows
	row     Row
}

func (c *chunk) want(w want) {
	for i, has := range c.layout.has {
		c.has[i] = has && w.wants(i)
	}
	c.offsets, c.rule, c.row = w == Everything, nil, Row{}
	if w != KeysAlone {
		c.rule = c.layout.rule
	}
}

// read reads count rows of a batch from row first on, fewer if their keys are long. They lie in it.
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
		if k.value == keyEnds { // the first of all
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

// within returns how many of the first count rows have keys of chunkKeys bytes together, 1 at least. The ends of keys were
// read.
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

// readKeys reads the keys of the rows. Their ends were read before.
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
	c.keys = string(c.data[keyText])
	return nil
}

// checkPlaces refuses places that no shard has.
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

func (c *chunk) keyEnd(i int) int32 { return int32(binary.LittleEndian.Uint32(c.data[keyEnds][4*i:])) }

// readAt reads a range of a buffer, which has it.
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

// take returns the next of the rows. There is one.
func (c *chunk) take() *Row {
	i := c.next
	c.next++
	has, r := &c.has, &c.row
	r.Label, r.Labeled, r.Placed, r.Source, r.SourceOff = 0, false, has[offset], -1, -1 // others are of all rows or of none
	if has[keyEnds] {
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
	} else if c.rule != nil {
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
