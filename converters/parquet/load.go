package parquet

import (
	"encoding/binary"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
)

// readData starts to read the values of a data page: in memory, or streamed from the file if the page is uncompressed
// with plain byte strings, which may then have any size.
func (c *cursor) readData() error {
	p := &c.page
	// parquet-mr, used by Spark and Hive, states BIT_PACKED for levels that a column does not have.
	if p.repLevels == encodingBitPacked && c.leaf.rep > 0 || p.defLevels == encodingBitPacked && c.leaf.def > 0 {
		return fmt.Errorf("%w: levels of the encoding BIT_PACKED, which is deprecated", converters.ErrUnsupported)
	}
	raw := c.codec == codecNone || p.kind == pageDataV2 && !p.compressed
	if raw && !p.checked && p.encoding == encodingPlain && c.physical == typeBytes {
		return c.readStream()
	}
	if c.flows() {
		return c.readFlow()
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
	if c.numeric {
		c.numbers, err = newNumbers(c.leaf, p.encoding, values, c.dictionary)
	} else {
		c.bytes, err = newDecoder(c.leaf, p.encoding, values, c.dictionary)
	}
	if err != nil {
		return malformed(err)
	}
	return nil
}

// readStream starts to stream the values of a page. It copies the levels.
func (c *cursor) readStream() error {
	p := &c.page
	c.stream = c.w.Offset() + p.size
	c.levels.b = c.levels.b[:0]
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
			return columns.Over("max-page-size", "levels of %d bytes", sizes[i])
		}
		if err := c.held.claim(&c.levels, int64(len(c.levels.b))+sizes[i]); err != nil {
			return err
		}
		b, err := c.ahead(sizes[i])
		if err != nil {
			return err
		}
		c.levels.b = append(c.levels.b, b...)
	}
	c.reps = newRuns(c.levels.b[:sizes[0]:sizes[0]], levelWidth(most[0]))
	c.defs = newRuns(c.levels.b[sizes[0]:], levelWidth(most[1]))
	return nil
}

// ahead consumes n bytes of a streamed page.
func (c *cursor) ahead(n int64) ([]byte, error) {
	if n > c.stream-c.w.Offset() {
		return nil, malformed(errShort)
	}
	b, err := c.w.Peek(int(n))
	if err != nil {
		return nil, err
	}
	c.w.Pos += int(n)
	return b[:n:n], nil
}

// streamed makes the next value of a streamed page the current one.
func (c *cursor) streamed() error {
	c.w.Relax()
	b, err := c.ahead(4)
	if err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n > c.stream-c.w.Offset() {
		return malformed(errShort)
	}
	if n > c.most {
		return columns.Over("max-value-size", "a value of %d bytes", n)
	}
	if !c.load || c.passing {
		c.datum = datum{size: n}
		c.w.Skip(n)
	} else {
		if b, err = c.ahead(n); err != nil {
			return err
		}
		c.datum = datum{data: b, size: n}
	}
	return nil
}
