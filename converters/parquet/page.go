package parquet

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
)

// Types of pages.
const (
	pageData = iota
	pageIndex
	pageDictionary
	pageDataV2
)

// Sizes of page headers, bytes. A header includes the least and largest values of its page.
const (
	headerRead = 256
	headerMost = 16 << 20
)

// smallPage is the size up to which a page stays in the window, bytes.
const smallPage = 64 << 10

// A page is the header of a page.
type page struct {
	off        int64 // offset of the header
	kind       int32
	size       int64 // bytes after the header
	expanded   int64 // size after decompression
	crc        uint32
	checked    bool // the page has a CRC
	values     int64
	rows       int64 // of pageDataV2
	encoding   int32
	repLevels  int32 // encoding of the repetition levels of pageData
	defLevels  int32 // of the definition levels
	defSize    int64 // of the levels of pageDataV2, bytes
	repSize    int64
	compressed bool // the values of pageDataV2 are compressed
}

// decode decodes a header at the start of b, and returns its size.
func (p *page) decode(b []byte) (int, error) {
	d := thrift{b: b}
	*p = page{off: p.off, kind: -1, size: -1, expanded: -1, values: -1, compressed: true}
	found := int32(pageIndex)
	of := func(kind int32, to ...any) func(byte) {
		return func(t byte) {
			found = kind
			d.fields(t, to)
		}
	}
	d.fields(thriftStruct, []any{1: &p.kind, &p.expanded, &p.size, func(kind byte) { p.crc, p.checked = uint32(d.small(kind)), true },
		of(pageData, nil, &p.values, &p.encoding, &p.defLevels, &p.repLevels),
		7: of(pageDictionary, nil, &p.values, &p.encoding),
		8: of(pageDataV2, nil, &p.values, nil, &p.rows, &p.encoding, &p.defSize, &p.repSize, &p.compressed)})
	sizes := []int64{p.size, p.expanded, p.values, p.rows, p.defSize, p.repSize}
	if p.kind == pageIndex {
		sizes = sizes[:2]
	}
	switch {
	case d.err != nil:
		return 0, d.err
	case p.kind != pageIndex && p.kind != found || slices.ContainsFunc(sizes, func(n int64) bool { return n < 0 || n > math.MaxInt32 }):
		return 0, errThrift
	}
	return d.at, nil
}

// header reads the next header of the chunk, and checks its sizes.
func (c *cursor) header() error {
	c.page.off = c.w.Offset()
	left := c.w.Size - c.w.Offset()
	for want := int64(headerRead); ; want *= 2 {
		have := min(max(want, int64(c.w.Unread())), left)
		b, err := c.w.Peek(int(have))
		if err != nil {
			return err
		}
		n, err := c.page.decode(b)
		if errors.Is(err, errThriftEnd) && have < min(left, headerMost) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%w: the header of a page: %w", converters.ErrMalformed, err)
		}
		c.w.Skip(int64(n))
		if c.page.kind == pageDictionary {
			// Early parquet-mr does not count the header of the dictionary page in the size of a chunk.
			c.w.Size = c.last + min(int64(n), c.spare)
		}
		break
	}
	p := &c.page
	if left = c.w.Size - c.w.Offset(); p.size > left {
		return fmt.Errorf("%w: a page of %d bytes, of its column %d are left", converters.ErrMalformed, p.size, left)
	}
	if p.kind == pageDataV2 && p.defSize+p.repSize > min(p.size, p.expanded) {
		return fmt.Errorf("%w: a page of %d bytes with levels of %d", converters.ErrMalformed, p.size, p.defSize+p.repSize)
	}
	if p.kind != pageDataV2 && c.codec == "" && p.size != p.expanded {
		return fmt.Errorf("%w: an uncompressed page of %d and of %d bytes", converters.ErrMalformed, p.size, p.expanded)
	}
	return nil
}
