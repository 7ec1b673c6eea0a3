package columns

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
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
	streams map[string]stream // by codec
	in      bytes.Reader
}

// A stream decompresses a reader, and after Reset another one.
type stream interface {
	io.Reader
	Reset(in io.Reader) error
}

// Expand decompresses b, of size bytes when decompressed, into the memory of to if its capacity is enough. The codec is
// snappy, gzip, zstd, brotli, lz4 (a frame), lz4 block, or lz4 hadoop: blocks preceded by their sizes, as Hadoop writes
// them, or a frame or one block, which others wrote with the same codec number.
func (x *Expander) Expand(to, b []byte, codec string, size int64) (_ []byte, err error) {
	defer func() {
		if why := recover(); why != nil { // a library panicked on a malformed b
			*x = Expander{}
			err = fmt.Errorf("%v", why)
		}
	}()
	switch codec {
	case "snappy":
		n, sizeErr := s2.DecodedLen(b)
		if sizeErr != nil || int64(n) != size || size > snappyRatio*int64(len(b)) {
			return to, errors.Join(ErrSize, sizeErr)
		}
		to, err = s2.Decode(Sized(to, size), b)
	case "lz4 block", "lz4 hadoop":
		if size > lz4Ratio*int64(len(b)) {
			return to, ErrSize
		}
		to = Sized(to, size)
		if codec == "lz4 block" {
			n := 0
			n, err = lz4.UncompressBlock(b, to)
			to = to[:max(n, 0)]
		} else if !expandHadoop(to, b) { // it is a frame, or one block
			if codec = "lz4 block"; len(b) >= 4 && binary.LittleEndian.Uint32(b) == frameMagic {
				codec = "lz4"
			}
			return x.Expand(to, b, codec, size)
		}
	default:
		x.in.Reset(b)
		s := x.streams[codec]
		if s != nil {
			err = s.Reset(&x.in)
		} else if s, err = NewStream(codec, &x.in, MostWindow); err == nil {
			if x.streams == nil {
				x.streams = make(map[string]stream)
			}
			x.streams[codec] = s
		}
		if err == nil {
			to, err = fill(to, s, size)
		}
	}
	if err == nil && int64(len(to)) != size {
		err = ErrSize
	}
	return to, err
}

// NewStream decompresses in, of a codec of Expand that has a stream. It refuses a frame of zstd with a larger window.
func NewStream(codec string, in io.Reader, window int64) (stream, error) {
	switch codec {
	case "zstd":
		return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(window)))
	case "gzip":
		return gzip.NewReader(in)
	case "lz4":
		return frames{lz4.NewReader(in)}, nil
	}
	return brotli.NewReader(in), nil
}

// frames is a stream of LZ4.
type frames struct{ *lz4.Reader }

func (f frames) Reset(in io.Reader) error {
	f.Reader.Reset(in)
	return nil
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
	// Reading the end verifies a checksum. A Reader may return no byte and no error before it, as Brotli's does.
	switch _, err := io.ReadFull(r, make([]byte, 1)); err {
	case nil:
		return to, ErrSize
	case io.EOF:
		return to, nil
	default:
		return to, err
	}
}
