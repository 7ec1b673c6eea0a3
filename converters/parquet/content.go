package parquet

import (
	"fmt"
	"hash/crc32"
	"io"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/place"
)

// keptBuffer is the size in bytes above which a buffer is freed when a page needs at most a quarter of it.
const keptBuffer = 1 << 20

// A holding counts the memory of the pages and dictionaries that the cursors of a reader hold, in bytes.
type holding struct {
	bytes, most int64
	cursors     []*cursor // of the reader
}

// estimate returns the memory of a reader in bytes, about: for each column the window, the dictionary and the first page, and
// once the largest of these that is compressed, as it is stored. A page that is read piece by piece counts nothing.
func (r *reader) estimate(f io.ReaderAt) (n int64) {
	raw := int64(0)
	for i, c := range r.asm.cursors {
		if c == nil {
			continue
		}
		n += int64(r.window)
		at := r.table.groups[0].chunks[i]
		for err := c.begin(f, at, true); err == nil && c.w.Offset() < c.last; c.w.Skip(c.page.size) {
			if err = c.header(); err == nil && c.page.kind != pageIndex && !c.page.streams(c.codec, c.physical) && !c.flows() {
				n += min(c.page.expanded, r.src.opts.MaxPage)
				if c.codec != "" {
					raw = max(raw, min(c.page.size, r.src.opts.MaxPage))
				}
			}
			if c.page.kind != pageDictionary {
				break
			}
		}
	}
	return n + raw
}

// take counts n bytes. If they exceed the limit, it frees buffers that hold no page.
func (h *holding) take(n int64) error {
	if n > h.most-h.bytes {
		h.reclaim()
	}
	if n > h.most-h.bytes {
		err := fmt.Errorf("%w: pages and dictionaries of %d bytes at once, of all columns", converters.ErrLimit, h.bytes+n)
		return place.WithHint(err, "option max-page-size, or fewer columns with option fields")
	}
	h.bytes += n
	return nil
}

func (h *holding) reclaim() {
	for _, c := range h.cursors {
		if c.left == 0 && c.batch.left() == 0 && !c.has {
			h.drop(&c.buf)
			h.drop(&c.levels)
		}
		if c.dictionary == nil {
			h.drop(&c.words)
		}
	}
}

// A buffer is memory of a cursor that a holding counts.
type buffer struct {
	b       []byte
	counted int64
}

// claim counts n bytes for a buffer before it grows to that size. It frees a much larger buffer.
func (h *holding) claim(x *buffer, n int64) error {
	more := n - x.counted
	switch {
	case more > 0:
		b := x.b
		h.drop(x)
		if err := h.take(n); err != nil {
			return err
		}
		*x = buffer{b, n}
	case x.counted >= keptBuffer && n <= x.counted/4:
		h.bytes += more
		*x = buffer{counted: n}
	}
	return nil
}

// drop frees a buffer.
func (h *holding) drop(x *buffer) {
	h.bytes -= x.counted
	*x = buffer{}
}

// body returns the stored bytes of the page: in the window if the page is small, else in *to. They are valid until the
// next page.
func (c *cursor) body(to *[]byte) ([]byte, error) {
	size := c.page.size
	if size <= smallPage || size <= int64(c.w.Unread()) {
		b, err := c.w.Peek(int(size))
		if err == nil {
			c.w.Pos += int(size)
		}
		return b, err
	}
	*to = columns.Sized(*to, size)
	n := copy(*to, c.w.Buf[c.w.Pos:])
	err := scan.ReadFull(c.w.File, (*to)[n:], c.w.Offset()+int64(n))
	c.w.Skip(size)
	return *to, err
}

// content returns the decompressed bytes of the page: levels and values for version 2, else all as values. They are
// valid until the next page. The bytes of a dictionary page are copied to *to.
func (c *cursor) content(to *buffer) (levels, values []byte, err error) {
	p := &c.page
	if p.size > c.of.src.opts.MaxPage || p.expanded > c.of.src.opts.MaxPage {
		return nil, nil, columns.Over("max-page-size", "a page of %d bytes, %d decompressed", p.size, p.expanded)
	}
	codec, size := c.codec, p.expanded
	if p.kind == pageDataV2 {
		size -= p.defSize + p.repSize
		if !p.compressed {
			codec = ""
		}
	}
	stored := &c.of.raw // shared by all columns, since the page is decompressed immediately
	if codec == "" {
		stored = &to.b
	}
	inWindow := p.size <= max(smallPage, int64(c.w.Unread()))
	if codec != "" || p.kind == pageDictionary || !inWindow {
		if err := c.of.held.claim(to, p.expanded); err != nil {
			return nil, nil, err
		}
	}
	b, err := c.body(stored)
	if err != nil {
		return nil, nil, err
	}
	if p.checked && crc32.ChecksumIEEE(b) != p.crc {
		return nil, nil, fmt.Errorf("%w: a page has the CRC %08x, its header says %08x", converters.ErrMalformed, crc32.ChecksumIEEE(b), p.crc)
	}
	if p.kind == pageDataV2 {
		n := p.defSize + p.repSize
		if levels, b = b[:n:n], b[n:]; codec != "" {
			if err := c.of.held.claim(&c.levels, n); err != nil {
				return nil, nil, err
			}
			c.levels.b = append(c.levels.b[:0], levels...)
			levels = c.levels.b
		}
	}
	if size == 0 && len(b) == 0 {
		return levels, nil, nil
	}
	switch {
	case codec != "":
		values, err = c.of.expander.Expand(to.b, b, codec, size)
		to.b = values
	case int64(len(b)) != size:
		err = columns.ErrSize
	case p.kind == pageDictionary && inWindow:
		to.b = append(to.b[:0], b...)
		values = to.b
	default:
		values = b
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: a page does not decompress: %w", converters.ErrMalformed, err)
	}
	return levels, values, nil
}
