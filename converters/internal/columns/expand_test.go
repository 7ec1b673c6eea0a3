package columns

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/andybalholm/brotli"
)

// A slowEnd returns no byte and no error before the end, which io.Reader permits.
type slowEnd struct {
	io.Reader
	again bool
}

func (r *slowEnd) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if n == 0 && err == io.EOF && !r.again {
		r.again = true
		return 0, nil
	}
	return n, err
}

func TestFill(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 5000} {
		data := bytes.Repeat([]byte{7}, size)
		for _, off := range []int{-min(1, size), 0, 1} {
			got, err := fill(nil, &slowEnd{Reader: bytes.NewReader(data)}, int64(size+off))
			if sound := off == 0; sound != (err == nil) || sound && !bytes.Equal(got, data) || !sound && !errors.Is(err, ErrSize) {
				t.Errorf("%d bytes of %d: %d, %v", size+off, size, len(got), err)
			}
		}
	}
}

// The decompressor reads 32 KiB at a time: the end of the stream may be alone in the last of them.
func TestFillBrotli(t *testing.T) {
	t.Parallel()
	data := make([]byte, 33_000)
	rand.NewChaCha8([32]byte{1}).Read(data)
	for size := 32_700; size < len(data); size++ {
		var b bytes.Buffer
		w := brotli.NewWriterLevel(&b, 1)
		w.Write(data[:size])
		w.Close()
		if got, err := fill(nil, brotli.NewReader(&b), int64(size)); err != nil || !bytes.Equal(got, data[:size]) {
			t.Errorf("%d bytes: %d, %v", size, len(got), err)
		}
	}
}
