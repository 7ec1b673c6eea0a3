package parquet

import (
	"errors"
	"fmt"

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
	found := int32(-1)
	d.record(thriftStruct, func(id int, kind byte) bool {
		switch id {
		case 1:
			p.kind = d.small(kind)
		case 2:
			p.expanded = int64(d.small(kind))
		case 3:
			p.size = int64(d.small(kind))
		case 4:
			p.crc, p.checked = uint32(d.small(kind)), true
		case 5:
			found = pageData
			d.record(kind, func(id int, kind byte) bool { return p.data(&d, id, kind) })
		case 7:
			found = pageDictionary
			d.record(kind, func(id int, kind byte) bool { return p.data(&d, id, kind) })
		case 8:
			found = pageDataV2
			d.record(kind, func(id int, kind byte) bool { return p.dataV2(&d, id, kind) })
		default:
			return false
		}
		return true
	})
	switch {
	case d.err != nil:
		return 0, d.err
	case p.kind != pageIndex && p.kind != found || p.size < 0 || p.expanded < 0:
		return 0, errThrift
	case p.kind != pageIndex && (p.values < 0 || p.rows < 0 || p.defSize < 0 || p.repSize < 0):
		return 0, errThrift
	}
	return d.at, nil
}

// data decodes a field of the header of a data page or a dictionary page; their first fields are the same.
func (p *page) data(d *thrift, id int, kind byte) bool {
	switch id {
	case 1:
		p.values = int64(d.small(kind))
	case 2:
		p.encoding = d.small(kind)
	case 3:
		if kind == thriftTrue || kind == thriftFalse {
			return false // ignored: whether a dictionary is sorted
		}
		p.defLevels = d.small(kind)
	case 4:
		p.repLevels = d.small(kind)
	default:
		return false
	}
	return true
}

func (p *page) dataV2(d *thrift, id int, kind byte) bool {
	switch id {
	case 1:
		p.values = int64(d.small(kind))
	case 3:
		p.rows = int64(d.small(kind))
	case 4:
		p.encoding = d.small(kind)
	case 5:
		p.defSize = int64(d.small(kind))
	case 6:
		p.repSize = int64(d.small(kind))
	case 7:
		p.compressed = d.integer(kind) != 0
	default:
		return false
	}
	return true
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
	if p.kind != pageDataV2 && c.codec == codecNone && p.size != p.expanded {
		return fmt.Errorf("%w: an uncompressed page of %d and of %d bytes", converters.ErrMalformed, p.size, p.expanded)
	}
	return nil
}
