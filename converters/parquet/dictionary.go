package parquet

import (
	"encoding/binary"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
)

// placeSize is the memory per value of a dictionary of bytes, without the bytes.
const placeSize = 4

// A dictionary holds the values of a dictionary page: of a fixed width, or byte strings.
type dictionary struct {
	count  int
	plain  []byte
	width  int
	places []uint32 // of byte strings: offset of each in plain, after its length; nil: fixed width
}

// get sets d to value i, a byte string.
func (x *dictionary) get(i uint32, d *datum) error {
	if err := x.check(i); err != nil {
		return err
	}
	at := int(i) * x.width
	end := at + x.width
	if x.places != nil {
		at = int(x.places[i])
		end = at + int(binary.LittleEndian.Uint32(x.plain[at-4:]))
	}
	d.set(x.plain[at:end:end])
	return nil
}

// check returns an error unless there is a value i.
func (x *dictionary) check(i uint32) error {
	if uint64(i) >= uint64(x.count) {
		return fmt.Errorf("index %d into a dictionary of %d values", i, x.count)
	}
	return nil
}

// readDictionary decodes a dictionary page and keeps its bytes.
func (c *cursor) readDictionary() error {
	p := &c.page
	if c.dictionary != nil {
		return fmt.Errorf("%w: a second dictionary page", converters.ErrMalformed)
	}
	if p.encoding != encodingPlain && p.encoding != encodingPlainDictionary || c.physical == typeBool {
		return fmt.Errorf("%w: a dictionary of encoding %d", converters.ErrUnsupported, p.encoding)
	}
	_, b, err := c.content(&c.words)
	if err != nil {
		return err
	}
	width := c.width()
	// One writer puts sizes before values of a fixed size (apache/arrow-rs#11261): all but the first would be wrong.
	if p.values > int64(len(b))/int64(max(width, 1)) || c.physical == typeFixed && p.values*int64(width) != int64(len(b)) {
		return fmt.Errorf("%w: a dictionary of %d values in %d bytes", converters.ErrMalformed, p.values, len(b))
	}
	x := &dictionary{count: int(p.values), plain: b, width: width}
	c.dictionary = x // forget gives the memory of its places back, also after an error
	if c.physical == typeBytes {
		return c.places(x)
	}
	return nil
}

// places finds the byte strings of a dictionary.
func (c *cursor) places(x *dictionary) error {
	if int64(x.count) > int64(len(x.plain))/4 {
		return malformed(errShort)
	}
	if err := c.of.held.take(placeSize * int64(x.count)); err != nil {
		return err
	}
	x.places = make([]uint32, x.count)
	at := 0
	for i := range x.places {
		if len(x.plain)-at < 4 {
			return malformed(errShort)
		}
		n := binary.LittleEndian.Uint32(x.plain[at:])
		if at += 4; uint64(n) > uint64(len(x.plain)-at) {
			return malformed(errShort)
		}
		x.places[i] = uint32(at)
		at += int(n)
	}
	return nil
}
