package parquet

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
)

// codecs are the compressions of pages, by their numbers. lz4 hadoop is deprecated.
var codecs = [...]string{"", "snappy", "gzip", "LZO", "brotli", "lz4 hadoop", "zstd", "lz4 block"}

// codecOf returns the compression of a number, or an error if it is not supported.
func codecOf(n int32) (string, error) {
	switch {
	case n < 0 || int(n) >= len(codecs):
		return "", fmt.Errorf("%w: its compression %d is not known", converters.ErrMalformed, n)
	case codecs[n] == "LZO":
		return "", fmt.Errorf("%w: it is compressed with LZO", converters.ErrUnsupported)
	}
	return codecs[n], nil
}
