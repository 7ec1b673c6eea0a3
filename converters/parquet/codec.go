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
	codecLZ4    = 5 // deprecated: the frames of Hadoop
	codecZstd   = 6
	codecLZ4Raw = 7
)

// codecs are the compressions that pages may have.
var codecs = map[int32]columns.Codec{codecSnappy: columns.Snappy, codecGzip: columns.Gzip, codecZstd: columns.Zstd, codecLZ4Raw: columns.LZ4Block}

// supported returns an error if pages of a codec cannot be decompressed.
func supported(codec int32) error {
	name := ""
	switch codec {
	case codecNone, codecSnappy, codecGzip, codecZstd, codecLZ4Raw:
		return nil
	case codecLZO:
		name = "LZO"
	case codecBrotli:
		name = "Brotli"
	case codecLZ4:
		name = "the LZ4 of Hadoop"
	default:
		return fmt.Errorf("%w: its compression %d is not known", converters.ErrMalformed, codec)
	}
	return fmt.Errorf("%w: it is compressed with %s", converters.ErrUnsupported, name)
}
