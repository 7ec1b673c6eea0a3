package stage

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zlib"

	"github.com/ffconvert/ffconvert/internal/input"
)

// isZlib reports whether head begins a zlib stream (RFC 1950) that holds a TFRecord file, or an empty stream, a file without
// records. The two bytes of the zlib header also begin other files, so isZlib decompresses a few bytes; of the formats
// that are read only TFRecord is stored in zlib.
func isZlib(head []byte) bool {
	const deflate, dictionary = 8, 0x20
	if len(head) < 2 || head[0]&15 != deflate || head[0]>>4 > 7 || head[1]&dictionary != 0 || (int(head[0])<<8|int(head[1]))%31 != 0 || input.IsTFRecord(head) {
		return false
	}
	var first [12]byte
	n, err := io.ReadFull(flate.NewReader(bytes.NewReader(head[2:])), first[:])
	return input.IsTFRecord(first[:n]) || err == io.EOF && len(head) == 8
}

// A zlibReader reads one zlib stream, and returns errGarbage if bytes follow it.
type zlibReader struct {
	io.ReadCloser // compares the Adler-32 of the data
	src           *bufio.Reader
}

func (z zlibReader) open() (io.ReadCloser, error) {
	var err error
	z.ReadCloser, err = zlib.NewReader(z.src)
	return z, err
}

func (z zlibReader) Read(p []byte) (int, error) {
	n, err := z.ReadCloser.Read(p)
	if err == io.EOF {
		if _, more := z.src.Peek(1); more == nil {
			return n, errGarbage
		} else if !errors.Is(more, io.EOF) {
			return n, more
		}
	}
	return n, err
}
