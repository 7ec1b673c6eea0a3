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

	// sniffLen is the number of bytes from which sniff detects the compression: enough for the
	// skippable frames that zstd tools write first.
	sniffLen = 4096
)

// sniff returns the compression of a file, "" for none. head is its first sniffLen bytes, or all bytes of a shorter
// file. If the file ends inside magic bytes that cannot be text, the error is [ErrTruncated]; for an .lzma file it
// is [ErrCompression].
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
		least int // a shorter prefix of the magic bytes could be text or CBOR
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

// isLZMA recognizes an .lzma file, which has no magic bytes, by the rules of xz (lzma-file-format.txt, 1.1):
// the properties byte that every known writer uses, a dictionary of 2^n or 2^n + 2^(n-1) bytes, an unknown size
// or one below 256 GiB, and, after the header, the zero byte that starts every LZMA stream.
func isLZMA(head []byte) bool {
	if len(head) < 14 || head[0] != 0x5d || head[13] != 0 {
		return false
	}
	dict, size := binary.LittleEndian.Uint32(head[1:]), binary.LittleEndian.Uint64(head[5:])
	top := uint32(1) << (31 - bits.LeadingZeros32(dict|1))
	return dict >= 1<<12 && (dict == top || dict == top|top>>1 || dict == math.MaxUint32) && (size == math.MaxUint64 || size < 256<<30)
}

// sniffError adds the name and an offset to an error of sniff. off is the end of the file; hint is for a truncated
// file.
func sniffError(name string, off int64, err error, hint string) error {
	if errors.Is(err, ErrCompression) {
		off, hint = 0, "decompress it with xz -d, or recompress it as xz or zstd"
	}
	return &place.Error{Where: name, Off: off, Err: err, Hint: hint}
}

// isBzip2 compares ten bytes. Four are not enough: the name of the first member of a tar may begin with BZh9.
func isBzip2(s string) bool {
	return s[:3] == "BZh" && s[3] >= '1' && s[3] <= '9' && (s[4:] == bzip2Block || s[4:] == bzip2End)
}

// skippableThenZstd reports whether a zstd frame follows skippable frames, which lz4 files may have as well. It also
// returns true if the skippable frames extend beyond head: the decoder then decides.
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

// decoder returns a reader of the decompressed bytes of r. It verifies every trailer, reads all
// members or streams, and refuses other bytes after them. Close releases its memory.
func decoder(compression string, r *bufio.Reader, maxWindow int64) (io.ReadCloser, error) {
	switch compression {
	case "gzip":
		return io.NopCloser(&gzipReader{src: r}), nil
	case "zstd":
		d, err := zstd.NewReader(r,
			zstd.WithDecoderConcurrency(1), // files are decompressed concurrently instead
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
		d, _ := xz.NewReader(r, uint32(maxWindow)) // Read returns the error of a bad stream header again
		d.Multistream(false)
		return io.NopCloser(xzReader{d}), nil
	}
	return io.NopCloser(r), nil
}

// errShortStream means that fewer bytes than a stream header follow a complete xz stream.
var errShortStream = errors.New("other bytes, or a stream that is cut, follow its end")

// An xzReader reads every stream of an xz file. It resets the decoder between streams to tell two meanings of xz.ErrBuf
// apart: inside a stream the file is truncated; after a stream a few bytes may have been appended.
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

// decodeError converts an error of a decoder, and returns a hint.
func decodeError(compression string, maxWindow int64, err error) (hint string, kind error) {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, xz.ErrBuf):
		return "the copy is incomplete: fetch it again", fmt.Errorf("%w: %s: it ends within its data", ErrTruncated, compression)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, xz.ErrMemlimit):
		return "raise option max-window if there is the memory",
			fmt.Errorf("%w: %s: it needs a window of more than %d bytes", input.ErrMalformed, compression, maxWindow)
	case errors.Is(err, xz.ErrFormat): // not the first stream, which sniff has recognized
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
