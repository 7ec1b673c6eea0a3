package columns

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// A Codec is a compression of a block of bytes.
type Codec int

// The codecs that an Expander has.
const (
	Snappy Codec = iota
	Gzip
	Zstd
	LZ4Block
	LZ4Frame
	LZ4Hadoop // blocks behind their sizes, as Hadoop writes them; or a frame or one block, as others did under the same name
	Brotli
)

// Largest ratios of snappy and LZ4. A block that claims a larger size is refused before memory is allocated.
const (
	snappyRatio = 64 // a copy of 64 bytes takes 3
	lz4Ratio    = 255
)

// expandFirst is the first allocation for a decompressed block in bytes; it doubles as the block is decompressed.
const expandFirst = 1 << 20

// expandTrust is the share of a block that must be there before memory is allocated for all of it.
const expandTrust = 8

// MostWindow is the largest window of a zstd frame, bytes. A frame may claim it whatever its size.
const MostWindow = 128 << 20

// ErrSize reports a block that has another size when it is decompressed.
var ErrSize = errors.New("it has another size when it is decompressed")

// An Expander decompresses blocks. The zero value is ready.
type Expander struct {
	zstd   *zstd.Decoder
	gzip   *gzip.Reader
	lz4    *lz4.Reader
	brotli *brotli.Reader
	in     bytes.Reader
}

// Expand decompresses b, which becomes size bytes, into the memory of to.
func (x *Expander) Expand(to, b []byte, codec Codec, size int64) (_ []byte, err error) {
	defer func() {
		if why := recover(); why != nil { // of a library that b has misled
			*x = Expander{}
			err = fmt.Errorf("%v", why)
		}
	}()
	switch codec {
	case Snappy:
		n, sizeErr := s2.DecodedLen(b)
		if sizeErr != nil || int64(n) != size || size > snappyRatio*int64(len(b)) {
			return to, errors.Join(ErrSize, sizeErr)
		}
		to, err = s2.Decode(Sized(to, size), b)
	case LZ4Block:
		to, err = expandBlock(to, b, size)
	case LZ4Hadoop:
		return x.hadoop(to, b, size)
	case Zstd, Gzip, LZ4Frame, Brotli:
		x.in.Reset(b)
		var r io.Reader
		if r, err = x.stream(codec); err == nil {
			to, err = fill(to, r, size)
		}
	}
	if err == nil && int64(len(to)) != size {
		err = ErrSize
	}
	return to, err
}

// stream returns a reader of what x.in has, decompressed.
func (x *Expander) stream(codec Codec) (r io.Reader, err error) {
	switch codec {
	case Zstd:
		if x.zstd == nil {
			x.zstd, err = zstd.NewReader(&x.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(MostWindow))
		} else {
			err = x.zstd.Reset(&x.in)
		}
		return x.zstd, err
	case Brotli:
		if x.brotli == nil {
			x.brotli = brotli.NewReader(&x.in)
		} else {
			err = x.brotli.Reset(&x.in)
		}
		return x.brotli, err
	case LZ4Frame:
		if x.lz4 == nil {
			x.lz4 = lz4.NewReader(&x.in)
		} else {
			x.lz4.Reset(&x.in)
		}
		return x.lz4, nil
	}
	if x.gzip == nil {
		x.gzip, err = gzip.NewReader(&x.in)
	} else {
		err = x.gzip.Reset(&x.in)
	}
	return x.gzip, err
}

// Sized returns a slice of size bytes. It reuses to if its capacity is enough.
func Sized(to []byte, size int64) []byte {
	if int64(cap(to)) >= size {
		return to[:size]
	}
	return make([]byte, size)
}

// fill reads size bytes, which must be all. Memory grows with the bytes that there are, to expandTrust times as much.
func fill(to []byte, r io.Reader, size int64) ([]byte, error) {
	to = to[:0]
	for int64(len(to)) < size {
		if len(to) == cap(to) {
			room := max(expandFirst, 2*int64(len(to)))
			if int64(len(to)) >= size/expandTrust {
				room = size
			}
			more := make([]byte, len(to), min(size, room))
			copy(more, to)
			to = more
		}
		n, err := r.Read(to[len(to):min(int64(cap(to)), size)])
		to = to[:len(to)+n]
		if err == io.EOF && int64(len(to)) < size {
			return to, ErrSize
		}
		if err != nil && err != io.EOF {
			return to, err
		}
	}
	// The end has a checksum.
	if n, err := r.Read(make([]byte, 1)); n > 0 || err == nil {
		return to, ErrSize
	} else if err != io.EOF {
		return to, err
	}
	return to, nil
}
