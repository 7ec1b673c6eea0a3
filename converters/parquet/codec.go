package parquet

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
)

// Compressions of pages.
const (
	codecNone   = 0
	codecSnappy = 1
	codecGzip   = 2
	codecLZO    = 3
	codecBrotli = 4
	codecLZ4    = 5 // deprecated: with Hadoop's framing
	codecZstd   = 6
	codecLZ4Raw = 7
)

// codecs are the supported compressions of pages.
var codecs = map[int32]columns.Codec{
	codecSnappy: columns.Snappy, codecGzip: columns.Gzip, codecBrotli: columns.Brotli,
	codecLZ4: columns.LZ4Hadoop, codecZstd: columns.Zstd, codecLZ4Raw: columns.LZ4Block,
}

// supported returns an error if pages of a codec cannot be decompressed.
func supported(codec int32) error {
	switch _, ok := codecs[codec]; {
	case ok || codec == codecNone:
		return nil
	case codec == codecLZO:
		return fmt.Errorf("%w: it is compressed with LZO", converters.ErrUnsupported)
	}
	return fmt.Errorf("%w: its compression %d is not known", converters.ErrMalformed, codec)
}
