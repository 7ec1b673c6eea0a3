package parquet

import (
	"encoding/binary"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
)

// readDictionary decodes a dictionary page. Its bytes stay in memory.
func (c *cursor) readDictionary() error {
	p := &c.page
	if c.dictionary != nil {
		return fmt.Errorf("%w: a second dictionary page", converters.ErrMalformed)
	}
	if p.encoding != encodingPlain && p.encoding != encodingPlainDictionary || c.physical == typeBool {
		return fmt.Errorf("%w: a dictionary of encoding %d", converters.ErrUnsupported, p.encoding)
	}
	if c.codec == codecNone && !p.checked && !c.load && c.physical == typeBytes {
		return c.measureDictionary()
	}
	_, b, err := c.content(&c.words)
	if err != nil {
		return err
	}
	if p.values > int64(len(b))/int64(max(c.width(), 1)) {
		return fmt.Errorf("%w: a dictionary of %d values in %d bytes", converters.ErrMalformed, p.values, len(b))
	}
	d, err := newDecoder(c.leaf, encodingPlain, b, nil)
	if err != nil {
		return err
	}
	c.dictionary = make([]datum, p.values)
	for i := range c.dictionary {
		if err := d.next(&c.dictionary[i]); err != nil {
			return malformed(err)
		}
	}
	return nil
}

// measureDictionary is readDictionary where only the sizes of plain bytes are needed, which it skips.
func (c *cursor) measureDictionary() error {
	c.stream = c.w.Offset() + c.page.size
	if c.page.values > c.page.size/4 {
		return malformed(errShort)
	}
	c.dictionary = make([]datum, c.page.values)
	for i := range c.dictionary {
		if err := c.streamed(); err != nil {
			return err
		}
		c.dictionary[i] = c.datum
	}
	return nil
}

// readData begins the values of a data page: in memory, or streamed from the file if it is not compressed and has
// plain bytes, which may then have any size.
func (c *cursor) readData() error {
	p := &c.page
	// parquet-mr, of Spark and Hive, writes BIT_PACKED for levels that a column does not have.
	if p.repLevels == encodingBitPacked && c.leaf.rep > 0 || p.defLevels == encodingBitPacked && c.leaf.def > 0 {
		return fmt.Errorf("%w: levels of the encoding BIT_PACKED, which is deprecated", converters.ErrUnsupported)
	}
	raw := c.codec == codecNone || p.kind == pageDataV2 && !p.compressed
	if raw && !p.checked && p.encoding == encodingPlain && c.physical == typeBytes {
		return c.readStream()
	}
	levels, values, err := c.content(&c.buf)
	if err != nil {
		return err
	}
	if p.kind == pageDataV2 {
		c.reps = newRuns(levels[:p.repSize], levelWidth(c.leaf.rep))
		c.defs = newRuns(levels[p.repSize:], levelWidth(c.leaf.def))
	} else {
		for _, l := range []struct {
			most int
			runs *runs
		}{{c.leaf.rep, &c.reps}, {c.leaf.def, &c.defs}} {
			if l.most == 0 {
				continue
			}
			if len(values) < 4 || uint64(binary.LittleEndian.Uint32(values)) > uint64(len(values)-4) {
				return malformed(errShort)
			}
			n := 4 + binary.LittleEndian.Uint32(values)
			*l.runs = newRuns(values[4:n], levelWidth(l.most))
			values = values[n:]
		}
	}
	if c.decoder, err = newDecoder(c.leaf, p.encoding, values, c.dictionary); err != nil {
		return malformed(err)
	}
	return nil
}

// readStream begins to stream the values of a page. The levels are copied.
func (c *cursor) readStream() error {
	p := &c.page
	c.stream = c.w.Offset() + p.size
	c.levels = c.levels[:0]
	var sizes [2]int64
	most := [2]int{c.leaf.rep, c.leaf.def}
	for i := range sizes {
		sizes[i] = [2]int64{p.repSize, p.defSize}[i]
		if p.kind != pageDataV2 {
			sizes[i] = 0
			if most[i] > 0 {
				b, err := c.ahead(4)
				if err != nil {
					return err
				}
				sizes[i] = int64(binary.LittleEndian.Uint32(b))
			}
		}
		if sizes[i] > c.limit {
			return columns.Over("MaxPage", "levels of %d bytes", sizes[i])
		}
		b, err := c.ahead(sizes[i])
		if err != nil {
			return err
		}
		c.levels = append(c.levels, b...)
	}
	c.reps = newRuns(c.levels[:sizes[0]:sizes[0]], levelWidth(most[0]))
	c.defs = newRuns(c.levels[sizes[0]:], levelWidth(most[1]))
	return nil
}
