package stage

import (
	"bufio"
	"bytes"
	stdgzip "compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/ffconvert/ffconvert/internal/fuzz"
	"github.com/ffconvert/ffconvert/internal/input"
)

// FuzzDecoders: no compressed bytes panic, hang or allocate beyond the largest window;
// what is refused has a kind; and what is accepted another decoder, or the same one in
// another mode, decompresses to the same bytes.
func FuzzDecoders(f *testing.F) {
	for _, c := range compressions {
		f.Add(compress(f, c, smallTar(f)))
	}
	const most = 1 << 20 // decompressed bytes: a few of these can be gigabytes
	f.Fuzz(func(t *testing.T, data []byte) {
		compression, err := sniff(data[:min(len(data), sniffLen)])
		if err != nil || compression == "" {
			return
		}
		var out []byte
		fuzz.WantAllocated(t, 4*DefaultMaxWindow+1000*len(data), func() { // xz: the sum of dictionaries that grow from block to block
			r, derr := decoder(compression, bufio.NewReader(bytes.NewReader(data)), DefaultMaxWindow)
			if derr != nil {
				t.Fatal(derr)
			}
			defer r.Close()
			out, err = io.ReadAll(io.LimitReader(r, most))
		})
		if err != nil {
			if _, kind := decodeError(compression, DefaultMaxWindow, err); !errors.Is(kind, ErrTruncated) && !errors.Is(kind, input.ErrMalformed) || strings.Contains(kind.Error(), "\n") {
				t.Fatalf("%s: %v is %v", compression, err, kind)
			}
			return
		}
		if compression == "xz" && bytes.Count(data, []byte("\x21\x01")) > 2 {
			return // the other decoder takes the window that a header asks for, for every block
		}
		theirs, err := otherDecoder(compression, data, most)
		if compression == "xz" && err != nil && strings.Contains(err.Error(), "filter") {
			return // the other decoder reads LZMA2 alone
		}
		if err != nil || !bytes.Equal(out, theirs) {
			t.Fatalf("%s: we have %d bytes, another decoder %d, %v", compression, len(out), len(theirs), err)
		}
	})
}

// otherDecoder decompresses what was accepted, most bytes at most. Zeros that pad a gzip
// file it does not know.
func otherDecoder(compression string, data []byte, most int64) (out []byte, err error) {
	var r io.Reader
	switch compression {
	case "gzip":
		r, err = stdgzip.NewReader(bytes.NewReader(data))
	case "zstd":
		d, zerr := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(2))
		if zerr != nil {
			return nil, zerr
		}
		defer d.Close()
		r = d
	case "xz":
		r, err = xz.NewReader(bytes.NewReader(data))
	default: // there is one reader of bzip2 in Go: its input a byte at a time
		d, derr := decoder(compression, bufio.NewReaderSize(bytes.NewReader(data), 16), DefaultMaxWindow)
		if derr != nil {
			return nil, derr
		}
		defer d.Close()
		r = d
	}
	if err != nil {
		return nil, err
	}
	out, err = io.ReadAll(io.LimitReader(r, most))
	if compression == "gzip" && (err == stdgzip.ErrHeader || err == io.ErrUnexpectedEOF) {
		err = nil
	}
	return out, err
}
