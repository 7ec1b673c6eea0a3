package stage

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"

	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
)

const (
	gzipMagic  = "\x1f\x8b"
	zstdMagic  = "\x28\xb5\x2f\xfd"
	xzMagic    = "\xfd7zXZ\x00"
	bzip2Block = "1AY&SY"                   // after "BZh" and a digit: a block…
	bzip2End   = "\x17\x72\x45\x38\x50\x90" // …or the end of an empty stream

	// sniffLen is how much of a file tells its compression: enough for the
	// skippable frames that zstd tools put first.
	sniffLen = 4096
)

// sniff returns the compression of a file by its first sniffLen bytes, or all bytes of a shorter
// file. A file that ends within magic bytes that cannot be text is [ErrTruncated]. An .lzma file is
// [ErrCompression].
func sniff(head []byte) (string, error) {
	s := string(head)
	switch {
	case len(s) >= 2 && s[:2] == gzipMagic:
		return "gzip", nil
	case len(s) >= 4 && s[:4] == zstdMagic, skippableThenZstd(head):
		return "zstd", nil
	case len(s) >= 6 && s[:6] == xzMagic:
		return "xz", nil
	case len(s) >= 10 && isBzip2(s[:10]):
		return "bzip2", nil
	case isZlib(head):
		return "zlib", nil
	case isLZMA(head):
		return "", fmt.Errorf("%w: lzma, the format before xz", ErrCompression)
	}
	for _, m := range []struct {
		name  string
		magic string
		least int // shorter beginnings are plausible as text or CBOR
	}{
		{"gzip", gzipMagic, 1},
		{"zstd", zstdMagic, 2},
		{"xz", xzMagic, 1},
	} {
		if len(s) >= m.least && len(s) < len(m.magic) && s == m.magic[:len(s)] {
			return "", errCutMagic(m.name)
		}
	}
	if len(s) >= 6 && len(s) < 10 && (isBzip2(s+bzip2Block[len(s)-4:]) || isBzip2(s+bzip2End[len(s)-4:])) {
		return "", errCutMagic("bzip2")
	}
	return "", nil
}

func errCutMagic(compression string) error {
	return fmt.Errorf("%w: %s: it ends within its first bytes", ErrTruncated, compression)
}

// isLZMA looks at the header of an .lzma file, which has no magic bytes, and at the byte behind
// it, as xz does (lzma-file-format.txt, 1.1): the properties that every known writer has, a
// dictionary of 2^n or 2^n + 2^(n-1) bytes, an unknown size or one below 256 GiB, and the zero
// that every LZMA stream begins with.
func isLZMA(head []byte) bool {
	if len(head) < 14 || head[0] != 0x5d || head[13] != 0 {
		return false
	}
	dict, size := binary.LittleEndian.Uint32(head[1:]), binary.LittleEndian.Uint64(head[5:])
	top := uint32(1) << (31 - bits.LeadingZeros32(dict|1))
	return dict >= 1<<12 && (dict == top || dict == top|top>>1 || dict == math.MaxUint32) && (size == math.MaxUint64 || size < 256<<30)
}

// sniffError places an error of sniff in a file that ends at off. hint is for a truncated file.
func sniffError(name string, off int64, err error, hint string) error {
	if errors.Is(err, ErrCompression) {
		off, hint = 0, "decompress it with xz -d, or recompress it as xz or zstd"
	}
	return &place.Error{Where: name, Off: off, Err: err, Hint: hint}
}

// isBzip2 looks at ten bytes: a tar may begin with BZh9 as well, the name of its first member.
func isBzip2(s string) bool {
	return s[:3] == "BZh" && s[3] >= '1' && s[3] <= '9' && (s[4:] == bzip2Block || s[4:] == bzip2End)
}

// skippableThenZstd looks for a zstd frame after skippable frames, which lz4 has as well. Skippable
// frames that extend beyond head are taken for zstd; the decoder decides.
func skippableThenZstd(head []byte) bool {
	if !isSkippable(head) {
		return false
	}
	for len(head) >= 8 && isSkippable(head) {
		n := uint64(binary.LittleEndian.Uint32(head[4:])) + 8
		if n >= uint64(len(head)) {
			return true
		}
		head = head[n:]
	}
	return len(head) < 8 || string(head[:4]) == zstdMagic
}

func isSkippable(head []byte) bool {
	return len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18})
}

// decoder returns a reader of the decompressed bytes of r. It checks every trailer, reads every
// further member or stream, and refuses other bytes after them. Close releases its memory.
func decoder(compression string, r *bufio.Reader, maxWindow int64) (io.ReadCloser, error) {
	switch compression {
	case "gzip":
		return io.NopCloser(&gzipReader{src: r}), nil
	case "zstd":
		d, err := zstd.NewReader(r,
			zstd.WithDecoderConcurrency(1), // the files are what runs in parallel
			zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(uint64(maxWindow)))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	case "bzip2":
		return io.NopCloser(bzip2.NewReader(r)), nil
	case "zlib":
		return zlibReader{src: r}.open()
	case "xz":
		d, _ := xz.NewReader(r, uint32(maxWindow)) // Read returns an error of the stream header again
		d.Multistream(false)
		return io.NopCloser(xzReader{d}), nil
	}
	return io.NopCloser(r), nil
}

// errShortStream means that fewer bytes than a stream header follow a complete xz stream.
var errShortStream = errors.New("other bytes, or a stream that is cut, follow its end")

// An xzReader reads every stream of an xz file. It resets the decoder between streams, because xz.ErrBuf
// means a truncated file within a stream, but after one it may also mean a few appended bytes.
type xzReader struct{ *xz.Reader }

func (x xzReader) Read(p []byte) (int, error) {
	n, err := x.Reader.Read(p)
	if err != io.EOF {
		return n, err
	}
	err = x.Reset(nil) // reads the header of the next stream; io.EOF if there is none
	x.Multistream(false)
	if err == xz.ErrBuf {
		err = errShortStream
	}
	return n, err
}

// decodeError returns the error for damage that a decoder found, and a hint.
func decodeError(compression string, maxWindow int64, err error) (hint string, kind error) {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, xz.ErrBuf):
		return "the copy is incomplete: fetch it again", fmt.Errorf("%w: %s: it ends within its data", ErrTruncated, compression)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, xz.ErrMemlimit):
		return "raise option max-window if there is the memory",
			fmt.Errorf("%w: %s: it needs a window of more than %d bytes", input.ErrMalformed, compression, maxWindow)
	case errors.Is(err, xz.ErrFormat): // the first magic is known: see sniff
		err = errGarbage
	case errors.Is(err, xz.ErrOptions), errors.Is(err, xz.ErrUnsupportedCheck):
		err = errors.New("a filter or check that is not supported")
	case errors.Is(err, xz.ErrData):
		err = errors.New("the data is corrupt")
	}
	if compression == "xz" && err != errShortStream {
		err = fmt.Errorf("%w, found up to 8 KiB before this offset", err) // the size of the decoder's reads
	}
	return "", fmt.Errorf("%w: %s: %w", input.ErrMalformed, compression, err)
}
