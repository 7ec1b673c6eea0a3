package decode

import (
	"cmp"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/picture"
	"github.com/ffconvert/ffconvert/internal/place"
)

// Defaults of Limits.
const (
	DefaultMaxDecode = 16 << 20 // bytes
	DefaultMaxDepth  = 32
	DefaultMaxPixels = picture.DefaultMaxPixels // as RGB such a picture takes 200 MB
)

// The range of Limits.MaxDepth is the range that the CBOR library accepts.
const (
	leastDepth = 4
	mostDepth  = 1<<16 - 1
)

// Limits bound the memory and the stack for decoding one field.
type Limits struct {
	// MaxDecode is the largest field in bytes that is decoded. The decoded value may need a
	// hundred times as much memory (a list of empty lists). Text has no such limit, because it
	// is not copied. 0 means DefaultMaxDecode.
	MaxDecode int64

	// MaxDepth is the deepest nesting of lists and maps, 4 to 65,535; in JSON 10,000 at most.
	// 0 means DefaultMaxDepth.
	MaxDepth int

	// MaxPixels is the largest picture that package encode decodes, before and after it is resized, in pixels. A
	// pixel takes up to 20 bytes of memory while it is decoded (a progressive JPEG). 0 means DefaultMaxPixels.
	MaxPixels int64
}

// Check returns an error for invalid limits. It sets limits that equal their default to 0.
func (l Limits) Check() (Limits, error) {
	l = l.filled()
	switch {
	case l.MaxDecode < 0:
		return l, fmt.Errorf("fields of at most %d bytes cannot be decoded", l.MaxDecode)
	case l.MaxPixels < 0:
		return l, fmt.Errorf("pictures of at most %d pixels cannot be decoded", l.MaxPixels)
	case l.MaxDepth < leastDepth || l.MaxDepth > mostDepth:
		return l, fmt.Errorf("decoding depth %d: want %d to %d", l.MaxDepth, leastDepth, mostDepth)
	}
	if l.MaxDecode == DefaultMaxDecode {
		l.MaxDecode = 0
	}
	if l.MaxDepth == DefaultMaxDepth {
		l.MaxDepth = 0
	}
	if l.MaxPixels == DefaultMaxPixels {
		l.MaxPixels = 0
	}
	return l, nil
}

// filled returns the limits with defaults filled in.
func (l Limits) filled() Limits {
	return Limits{cmp.Or(l.MaxDecode, DefaultMaxDecode), cmp.Or(l.MaxDepth, DefaultMaxDepth), cmp.Or(l.MaxPixels, DefaultMaxPixels)}
}

// nested refuses a list or a map of more than MaxDecode bytes: decoded it may need a hundred times as much.
func (l Limits) nested(bytes int) error {
	if int64(bytes) <= l.MaxDecode {
		return nil
	}
	return place.WithHint(fmt.Errorf("%w: a list or a map of %d bytes, more than %d", converters.ErrLimit, bytes, l.MaxDecode), "raise option max-decode-size")
}
