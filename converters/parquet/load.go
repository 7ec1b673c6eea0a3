package parquet

import (
	"encoding/binary"
	"fmt"
	"math/bits"

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
	if p.streams(c.codec, c.physical) {
		c.values, c.stream, c.bytes = &c.w, c.w.Offset()+p.size, c.streamed
		return c.readLevels(c.copied(c.ahead))
	}
	if c.flows() {
		c.bytes, c.numbers = c.streamed, c.streamedNumbers
		return c.readFlow()
	}
	levels, values, err := c.content(&c.buf)
	if err != nil {
		return err
	}
	from := &values
	if p.kind == pageDataV2 {
		from = &levels
	}
	err = c.readLevels(func(n int64) ([]byte, error) {
		if n > int64(len(*from)) {
			return nil, errShort
		}
		b := (*from)[:n:n]
		*from = (*from)[n:]
		return b, nil
	})
	if err != nil {
		return err
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

// streams reports whether values are read from the file one by one.
func (p *page) streams(codec string, physical int32) bool {
	return (codec == "" || p.kind == pageDataV2 && !p.compressed) && !p.checked && p.encoding == encodingPlain && physical == typeBytes
}

// readLevels takes the levels of a page, which precede its values. The bytes that take returns must stay valid.
func (c *cursor) readLevels(take func(n int64) ([]byte, error)) error {
	for _, l := range []struct {
		size int64 // of version 2; version 1 has it before the levels, if there are any
		most int
		runs *runs
	}{{c.page.repSize, c.leaf.rep, &c.reps}, {c.page.defSize, c.leaf.def, &c.defs}} {
		if c.page.kind != pageDataV2 && l.most > 0 {
			b, err := take(4)
			if err != nil {
				return malformed(err)
			}
			l.size = int64(binary.LittleEndian.Uint32(b))
		}
		b, err := take(l.size)
		if err != nil {
			return malformed(err)
		}
		*l.runs = runs{b: b, width: bits.Len(uint(l.most))}
	}
	return nil
}

// copied returns a function that copies the bytes that take returns to c.levels.
func (c *cursor) copied(take func(n int64) ([]byte, error)) func(n int64) ([]byte, error) {
	c.levels.b = c.levels.b[:0]
	return func(n int64) ([]byte, error) {
		at := len(c.levels.b)
		if n > c.of.src.opts.MaxPage {
			return nil, columns.Over("max-page-size", "levels of %d bytes", n)
		}
		if err := c.of.held.claim(&c.levels, int64(at)+n); err != nil {
			return nil, err
		}
		b, err := take(n)
		c.levels.b = append(c.levels.b, b...)
		return c.levels.b[at:len(c.levels.b):len(c.levels.b)], err
	}
}

// ahead consumes n bytes of a streamed page.
func (c *cursor) ahead(n int64) ([]byte, error) {
	if n > c.stream-c.values.Offset() {
		return nil, malformed(errShort)
	}
	b, err := c.values.Peek(int(n))
	if err != nil {
		return nil, err
	}
	c.values.Pos += int(n)
	return b[:n:n], nil
}

// streamed decodes the next byte string of a streamed page.
func (c *cursor) streamed(d *datum) error {
	c.values.Relax()
	n := int64(c.width())
	if c.physical == typeBytes {
		b, err := c.ahead(4)
		if err != nil {
			return err
		}
		n = int64(binary.LittleEndian.Uint32(b))
	}
	if n > c.stream-c.values.Offset() {
		return malformed(errShort)
	}
	if n > c.of.src.opts.MaxValue {
		return columns.Over("max-value-size", "a value of %d bytes", n)
	}
	if !c.load || c.passing {
		*d = datum{size: n}
		c.values.Skip(n)
		return nil
	}
	b, err := c.ahead(n)
	d.set(b)
	return err
}

// streamedNumbers decodes the next numbers of a streamed page: see newNumbers.
func (c *cursor) streamedNumbers(to []uint64) (int, error) {
	width := c.width()
	n := int(min(int64(len(to)), (c.stream-c.values.Offset())/int64(width)))
	b, err := c.ahead(int64(n * width))
	if err != nil {
		return 0, err
	}
	plain(to[:n], b, width)
	return n, short(n, to)
}
