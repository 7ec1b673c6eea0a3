package parquet

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
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

// A flow decodes the plain values of a page while it decompresses the page, so that a page of any size takes only the
// memory of its codec's window.
type flow struct {
	in     stored
	r      io.Reader // decompresses in
	left   int64     // remaining bytes of r, according to the page header
	b      []byte
	at     int // offset in b of the next value
	width  int // of a value; −1: byte strings, each preceded by its length
	window int64
	held   *holding
	count  *buffer // charged for the codec's window and b
	most   int64   // maximum size of a value
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
	case codecGzip:
		return gzipWindow
	case codecBrotli:
		return brotliWindow
	case codecZstd: // stated in its frame
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
	f := &flow{in: stored{r: c.section(levels)}, window: c.window(), left: p.expanded - levels, width: c.width(), held: &c.of.held, count: &c.buf, most: c.of.src.opts.MaxValue}
	if c.physical == typeBytes {
		f.width = -1
	}
	if err := f.open(c.codec); err != nil {
		return err
	}
	take := f.take
	if p.kind == pageDataV2 {
		from := c.w.Offset()
		take = func(n int64) ([]byte, error) {
			b := make([]byte, n)
			from += n
			return b, scan.ReadFull(c.w.File, b, from-n)
		}
	}
	if err := c.readLevels(c.copied(take)); err != nil {
		return err
	}
	c.w.Skip(p.size)
	c.bytes, c.numbers, c.flow = f.next, f.read, f
	return nil
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

// open starts to decompress. It refuses a frame of zstd with a larger window than the first frame's.
func (f *flow) open(codec int32) (err error) {
	if err := f.held.claim(f.count, f.window+flowPiece); err != nil {
		return err
	}
	switch codec {
	case codecZstd:
		most := uint64(f.window)
		f.r, err = zstd.NewReader(&f.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(most))
	case codecGzip:
		f.r, err = gzip.NewReader(&f.in)
	default:
		f.r = brotli.NewReader(&f.in)
	}
	return f.failed(err)
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

// take returns the next n bytes. They are valid until the next call.
func (f *flow) take(n int64) ([]byte, error) {
	have := int64(len(f.b) - f.at)
	if n > have+f.left {
		return nil, errShort
	}
	if n > have {
		if err := f.held.claim(f.count, f.window+max(flowPiece, n)); err != nil {
			return nil, err
		}
		f.b = f.b[:copy(f.b, f.b[f.at:])]
		f.at = 0
	}
	for int64(len(f.b)) < n {
		if len(f.b) == cap(f.b) {
			f.b = append(make([]byte, 0, max(flowPiece, min(2*int64(cap(f.b)), n))), f.b...)
		}
		room := f.b[len(f.b):min(int64(cap(f.b)), int64(len(f.b))+f.left)]
		got, err := f.r.Read(room)
		f.b, f.left = f.b[:len(f.b)+got], f.left-int64(got)
		if err == io.EOF && int64(len(f.b)) < n {
			err = columns.ErrSize
		}
		if err != nil && err != io.EOF {
			return nil, f.failed(err)
		}
	}
	b := f.b[f.at : f.at+int(n) : f.at+int(n)]
	f.at += int(n)
	return b, nil
}

func (f *flow) next(d *datum) error {
	n := int64(f.width)
	if f.width < 0 {
		b, err := f.take(4)
		if err != nil {
			return err
		}
		if n = int64(binary.LittleEndian.Uint32(b)); n > f.most {
			return columns.Over("max-value-size", "a value of %d bytes", n)
		}
	}
	b, err := f.take(n)
	if err != nil {
		return err
	}
	d.set(b)
	return nil
}

// read decodes numbers: see newNumbers.
func (f *flow) read(to []uint64) (int, error) {
	n := int(min(int64(len(to)), (int64(len(f.b)-f.at)+f.left)/int64(f.width)))
	b, err := f.take(int64(n * f.width))
	if err != nil {
		b = f.b[f.at:] // what was decompressed before
		n = len(b) / f.width
	} else {
		err = short(n, to)
	}
	plain(to[:n], b, f.width)
	return n, err
}

// finish returns an error unless the page ends where its header states. Reading the end verifies the codec's checksum.
func (c *cursor) finish() error {
	f := c.flow
	if f == nil {
		return nil
	}
	c.flow = nil
	n, err := io.Copy(io.Discard, io.LimitReader(f.r, f.left+1))
	if err == nil && n != f.left {
		err = columns.ErrSize
	}
	return f.failed(err)
}
