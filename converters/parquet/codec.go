package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/ffconvert/ffconvert/converters"
)

// Compressions of pages.
const (
	codecNone   = 0
	codecSnappy = 1
	codecGzip   = 2
	codecLZO    = 3
	codecBrotli = 4
	codecLZ4    = 5 // deprecated: the frames of Hadoop
	codecZstd   = 6
	codecLZ4Raw = 7
)

// Largest ratios of snappy and LZ4. A page that claims a larger size is refused before memory is allocated.
const (
	snappyRatio = 64 // a copy of 64 bytes takes 3
	lz4Ratio    = 255
)

// expandFirst is the first allocation for a decompressed page in bytes; it doubles as the page is decompressed.
const expandFirst = 1 << 20

var errExpanded = errors.New("it has another size when it is decompressed")

// An expander decompresses pages. The zero value is ready.
type expander struct {
	zstd *zstd.Decoder
	gzip *gzip.Reader
	in   bytes.Reader
}

// supported returns an error if pages of a codec cannot be decompressed.
func supported(codec int32) error {
	name := ""
	switch codec {
	case codecNone, codecSnappy, codecGzip, codecZstd, codecLZ4Raw:
		return nil
	case codecLZO:
		name = "LZO"
	case codecBrotli:
		name = "Brotli"
	case codecLZ4:
		name = "the LZ4 of Hadoop"
	default:
		return fmt.Errorf("%w: its compression %d is not known", converters.ErrMalformed, codec)
	}
	return fmt.Errorf("%w: it is compressed with %s", converters.ErrUnsupported, name)
}

// expand decompresses b, which becomes size bytes, into the memory of to.
func (x *expander) expand(to, b []byte, codec int32, size int64) (_ []byte, err error) {
	defer func() {
		if why := recover(); why != nil { // of a library that b has misled
			*x = expander{}
			err = fmt.Errorf("%v", why)
		}
	}()
	switch codec {
	case codecSnappy:
		n, sizeErr := s2.DecodedLen(b)
		if sizeErr != nil || int64(n) != size || size > snappyRatio*int64(len(b)) {
			return to, errors.Join(errExpanded, sizeErr)
		}
		to, err = s2.Decode(sized(to, size), b)
	case codecLZ4Raw:
		if size > lz4Ratio*int64(len(b)) {
			return to, errExpanded
		}
		to = sized(to, size)
		var n int
		if n, err = lz4.UncompressBlock(b, to); err == nil {
			to = to[:n]
		}
	case codecZstd, codecGzip:
		x.in.Reset(b)
		var r io.Reader
		if r, err = x.stream(codec); err == nil {
			to, err = fill(to, r, size)
		}
	}
	if err == nil && int64(len(to)) != size {
		err = errExpanded
	}
	return to, err
}

// stream returns a reader of what x.in has, decompressed.
func (x *expander) stream(codec int32) (r io.Reader, err error) {
	switch {
	case codec == codecZstd && x.zstd == nil:
		x.zstd, err = zstd.NewReader(&x.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20))
	case codec == codecZstd:
		err = x.zstd.Reset(&x.in)
	case x.gzip == nil:
		x.gzip, err = gzip.NewReader(&x.in)
	default:
		err = x.gzip.Reset(&x.in)
	}
	if codec == codecZstd {
		return x.zstd, err
	}
	return x.gzip, err
}

// sized returns a slice of size bytes. It reuses to if its capacity is enough.
func sized(to []byte, size int64) []byte {
	if int64(cap(to)) >= size {
		return to[:size]
	}
	return make([]byte, size)
}

// fill reads size bytes, which must be all. Memory grows with the bytes that there are.
func fill(to []byte, r io.Reader, size int64) ([]byte, error) {
	to = to[:0]
	for int64(len(to)) < size {
		if len(to) == cap(to) {
			more := make([]byte, len(to), min(size, max(expandFirst, 2*int64(len(to)))))
			copy(more, to)
			to = more
		}
		n, err := r.Read(to[len(to):min(int64(cap(to)), size)])
		to = to[:len(to)+n]
		if err == io.EOF && int64(len(to)) < size {
			return to, errExpanded
		}
		if err != nil && err != io.EOF {
			return to, err
		}
	}
	// The end has a checksum.
	if n, err := r.Read(make([]byte, 1)); n > 0 || err == nil {
		return to, errExpanded
	} else if err != io.EOF {
		return to, err
	}
	return to, nil
}
