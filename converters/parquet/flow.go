package parquet

import (
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// Sizes for pages that are decompressed incrementally, bytes.
const (
	flowFrom                 = 4 << 20  // minimum size of a page that flows
	flowPiece                = 64 << 10 // bytes decompressed per step
	flowLeast                = 1 << 20  // memory that a page may always use to flow
	gzipWindow, brotliWindow = 32 << 10, 16 << 20
)

// A flow is the content of a page, to be read from its start on while it is decompressed. So a page of any size takes only
// the memory of its codec's window, and of its largest value.
type flow struct {
	in       stored
	r        io.Reader // decompresses in
	at, size int64     // bytes that were read, and that there are by the page header
	values   scan.Window
}

// flows reports whether the page is decoded while it is decompressed: it is large, and its codec needs less memory so.
func (c *cursor) flows() bool {
	p := &c.page
	if p.expanded < c.of.src.flowFrom || p.size == 0 || p.kind == pageDataV2 && !p.compressed || p.encoding != encodingPlain || c.physical == typeBool {
		return false
	}
	window := c.window()
	return window > 0 && window+flowPiece <= max(p.expanded, flowLeast)
}

// window returns the memory in bytes for incremental decompression of the page, 0 if its codec does not support that.
func (c *cursor) window() int64 {
	switch c.codec {
	case "gzip":
		return gzipWindow
	case "brotli":
		return brotliWindow
	case "zstd": // stated in its frame
		levels := int64(0)
		if c.page.kind == pageDataV2 {
			levels = c.page.defSize + c.page.repSize
		}
		var head [zstd.HeaderMaxSize]byte
		n, err := c.section(levels).ReadAt(head[:], 0)
		var h zstd.Header
		if err != nil && err != io.EOF || h.Decode(head[:n]) != nil || h.Skippable {
			return 0
		}
		if h.SingleSegment {
			h.WindowSize = h.FrameContentSize
		}
		if h.WindowSize <= columns.MostWindow {
			return max(int64(h.WindowSize), zstd.MinWindowSize)
		}
	}
	return 0
}

// readFlow starts to decode a page that flows.
func (c *cursor) readFlow() error {
	p := &c.page
	if p.expanded > c.of.src.opts.MaxPage {
		return columns.Over("max-page-size", "a page of %d bytes, %d decompressed", p.size, p.expanded)
	}
	if p.checked {
		in, sum := stored{r: c.section(0)}, crc32.NewIEEE()
		if _, err := io.Copy(sum, &in); err != nil {
			return err
		}
		if sum.Sum32() != p.crc {
			return fmt.Errorf("%w: a page has the CRC %08x, its header says %08x", converters.ErrMalformed, sum.Sum32(), p.crc)
		}
	}
	c.buf.b = nil
	levels := p.defSize + p.repSize // of version 2, which are not compressed
	f := &flow{in: stored{r: c.section(levels)}, size: p.expanded - levels}
	if err := c.of.held.claim(&c.buf, c.window()+flowPiece); err != nil {
		return err
	}
	var err error
	if f.r, err = columns.NewStream(c.codec, &f.in, c.window()); err != nil {
		return f.failed(err)
	}
	f.values.Reset(f, f.size, 0, scan.Sizes{First: flowPiece, Usual: flowPiece})
	c.flow, c.values, c.stream = f, &f.values, f.size
	take := c.ahead
	if p.kind == pageDataV2 {
		from := c.w.Offset()
		take = func(n int64) ([]byte, error) {
			b := make([]byte, n)
			from += n
			return b, scan.ReadFull(c.w.File, b, from-n)
		}
	}
	err = c.readLevels(c.copied(take))
	c.w.Skip(p.size)
	return err
}

// section reads the stored page without its first from bytes.
func (c *cursor) section(from int64) *io.SectionReader {
	return io.NewSectionReader(c.w.File, c.w.Offset()+from, c.page.size-from)
}

// A stored reads a stored page. It keeps a read error, to distinguish it from an error of the codec.
type stored struct {
	r   *io.SectionReader
	n   int64
	err error
}

func (s *stored) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	s.n += int64(n)
	if err == io.EOF && s.n < s.r.Size() {
		err = fmt.Errorf("%w: it became shorter", converters.ErrChanged)
	}
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// failed returns the read error if the page could not be read; otherwise the codec's error means that the page is
// malformed.
func (f *flow) failed(err error) error {
	switch {
	case f.in.err != nil:
		return f.in.err
	case err == nil:
		return nil
	}
	return fmt.Errorf("%w: a page does not decompress: %w", converters.ErrMalformed, err)
}

// ReadAt reads the content behind what was read before.
func (f *flow) ReadAt(b []byte, off int64) (int, error) {
	skipped, err := io.CopyN(io.Discard, f.r, off-f.at)
	n := 0
	if err == nil {
		n, err = io.ReadFull(f.r, b)
	}
	if f.at += skipped + int64(n); err == io.EOF || err == io.ErrUnexpectedEOF {
		err = columns.ErrSize
	}
	return n, f.failed(err)
}

// finish returns an error unless the page ends where its header states. Reading the end verifies the codec's checksum.
func (c *cursor) finish() error {
	f := c.flow
	if f == nil {
		return nil
	}
	c.flow = nil
	n, err := io.Copy(io.Discard, io.LimitReader(f.r, f.size-f.at+1))
	if err == nil && n != f.size-f.at {
		err = columns.ErrSize
	}
	return f.failed(err)
}
