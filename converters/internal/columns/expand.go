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

// A Codec is a compression method of a block.
type Codec int

// The codecs of an Expander.
const (
	Snappy Codec = iota
	Gzip
	Zstd
	LZ4Block
	LZ4Frame
	LZ4Hadoop // blocks preceded by their sizes, as Hadoop writes them; or a frame or one block, which others wrote with the same codec number
	Brotli
)

// Largest ratios of snappy and LZ4. A block that claims a larger size is refused before allocation.
const (
	snappyRatio = 64 // a copy of 64 bytes takes 3
	lz4Ratio    = 255
)

// expandFirst is the first allocation for a decompressed block in bytes; the allocation then doubles as needed.
const expandFirst = 1 << 20

// expandTrust: the whole block is allocated once 1/expandTrust of it is decompressed.
const expandTrust = 8

// MostWindow is the largest accepted window of a zstd frame, in bytes. A frame may claim any window, whatever its size.
const MostWindow = 128 << 20

// ErrSize is the error for a block whose decompressed size is not the stated one.
var ErrSize = errors.New("it has another size when it is decompressed")

// An Expander decompresses blocks. The zero value is ready.
type Expander struct {
	zstd   *zstd.Decoder
	gzip   *gzip.Reader
	lz4    *lz4.Reader
	brotli *brotli.Reader
	in     bytes.Reader
}

// Expand decompresses b, of size bytes when decompressed, into the memory of to if its capacity is enough.
func (x *Expander) Expand(to, b []byte, codec Codec, size int64) (_ []byte, err error) {
	defer func() {
		if why := recover(); why != nil { // a library panicked on a malformed b
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

// stream returns a reader of the decompressed content of x.in.
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

// Sized returns a slice of size bytes, in the memory of to if its capacity is enough.
func Sized(to []byte, size int64) []byte {
	if int64(cap(to)) >= size {
		return to[:size]
	}
	return make([]byte, size)
}

// fill reads exactly size bytes. It allocates expandFirst bytes, then at most expandTrust times the bytes read, since
// size may be false.
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
	// Reading the end verifies a checksum.
	if n, err := r.Read(make([]byte, 1)); n > 0 || err == nil {
		return to, ErrSize
	} else if err != io.EOF {
		return to, err
	}
	return to, nil
}
