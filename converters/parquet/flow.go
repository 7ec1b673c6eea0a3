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
)

// Sizes of pages that are decompressed piece by piece, bytes.
const (
	flowFrom                 = 4 << 20  // a page of at least so much flows
	flowPiece                = 64 << 10 // what is decompressed at once
	flowLeast                = 1 << 20  // memory that a page may always take to flow
	gzipWindow, brotliWindow = 32 << 10, 16 << 20
)

// A flow decodes the plain values of a page while it is decompressed, so that a page of any size takes the memory of a
// window of its codec.
type flow struct {
	in     stored
	r      io.Reader // in, decompressed
	left   int64     // bytes of it that follow, by the header of the page
	b      []byte
	at     int // in b, of the next value
	width  int // of the values; −1: bytes, each behind its size
	number bool
	window int64
	held   *holding
	count  *buffer // counts the window and b
	most   int64   // size of a value
}

// flows reports whether the page is decoded while it is decompressed: if it is large, and its codec needs less memory for that.
func (c *cursor) flows() bool {
	p := &c.page
	if p.expanded < c.flowFrom || p.size == 0 || p.kind == pageDataV2 && !p.compressed || p.encoding != encodingPlain || c.physical == typeBool {
		return false
	}
	window := c.window()
	return window > 0 && window+flowPiece <= max(p.expanded, flowLeast)
}

// window is the memory that the codec of the page needs to decompress it piece by piece in bytes, 0 if it does not.
func (c *cursor) window() int64 {
	switch c.codec {
	case codecGzip:
		return gzipWindow
	case codecBrotli:
		return brotliWindow
	case codecZstd: // its frame says so
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

// readFlow begins a page that flows.
func (c *cursor) readFlow() error {
	p := &c.page
	if p.expanded > c.limit {
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
	c.levels.b = c.levels.b[:0]
	levels := int64(0)
	if p.kind == pageDataV2 {
		if levels = p.defSize + p.repSize; levels > 0 {
			if err := c.held.claim(&c.levels, levels); err != nil {
				return err
			}
			c.levels.b = append(c.levels.b, make([]byte, levels)...)
			if err := columns.ReadFull(c.w.File, c.levels.b, c.w.Offset()); err != nil {
				return err
			}
		}
	}
	f := &flow{in: stored{r: c.section(levels)}, window: c.window(), left: p.expanded - levels, width: c.width(), number: c.numeric(), held: c.held, count: &c.buf, most: c.most}
	if c.physical == typeBytes {
		f.width = -1
	}
	if err := f.open(c.codec); err != nil {
		return err
	}
	c.w.Skip(p.size)
	c.decoder, c.flow = f, f
	if p.kind == pageDataV2 {
		c.reps = newRuns(c.levels.b[:p.repSize:p.repSize], levelWidth(c.leaf.rep))
		c.defs = newRuns(c.levels.b[p.repSize:], levelWidth(c.leaf.def))
		return nil
	}
	return c.flowLevels()
}

// section is the page as it is stored, without its first bytes.
func (c *cursor) section(from int64) *io.SectionReader {
	return io.NewSectionReader(c.w.File, c.w.Offset()+from, c.page.size-from)
}

// A stored reads a page as it is stored, and keeps an error that is not of its bytes.
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

// open begins to decompress. No frame of zstd may have a larger window than the first one.
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

// failed says of an error of the codec that the page is malformed, unless the page could not be read.
func (f *flow) failed(err error) error {
	switch {
	case f.in.err != nil:
		return f.in.err
	case err == nil:
		return nil
	}
	return fmt.Errorf("%w: a page does not decompress: %w", converters.ErrMalformed, err)
}

// flowLevels copies the levels of a page of version 1 out of its flow.
func (c *cursor) flowLevels() error {
	var sizes [2]int
	most := [2]int{c.leaf.rep, c.leaf.def}
	for i := range sizes {
		if most[i] == 0 {
			continue
		}
		n, err := c.flow.next4()
		if err != nil {
			return malformed(err)
		}
		b, err := c.flow.take(int64(n))
		if err != nil {
			return malformed(err)
		}
		if err := c.held.claim(&c.levels, int64(len(c.levels.b)+len(b))); err != nil {
			return err
		}
		c.levels.b = append(c.levels.b, b...)
		sizes[i] = int(n)
	}
	c.reps = newRuns(c.levels.b[:sizes[0]:sizes[0]], levelWidth(most[0]))
	c.defs = newRuns(c.levels.b[sizes[0]:], levelWidth(most[1]))
	return nil
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

// next4 is the next number of 4 bytes.
func (f *flow) next4() (uint32, error) {
	b, err := f.take(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (f *flow) next(d *datum) error {
	n := int64(f.width)
	if f.width < 0 {
		size, err := f.next4()
		if err != nil {
			return err
		}
		if n = int64(size); n > f.most {
			return columns.Over("max-value-size", "a value of %d bytes", n)
		}
	}
	b, err := f.take(n)
	if err != nil {
		return err
	}
	d.set(b, f.number && f.width > 0)
	return nil
}

// finish wants that a page that flows ends where its header says: its end has a checksum.
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
