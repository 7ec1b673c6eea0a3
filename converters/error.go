package converters

import (
	"errors"

	"github.com/ffconvert/ffconvert/internal/place"
)

// Kinds of errors. Every error of a source is an [Error] that wraps one of them, an error of the
// operating system, or the error of a context.
var (
	ErrTruncated   = errors.New("truncated")
	ErrMalformed   = errors.New("malformed")
	ErrUnsupported = place.New(place.Refused, "not supported")
	ErrDuplicate   = errors.New("duplicate")
	ErrChanged     = place.New(place.Refused, "changed since it was indexed")
	ErrLimit       = place.New(place.Refused, "over a limit")
	ErrUnmatched   = place.New(place.Refused, "does not match") // files, or rows and samples, that belong together
)

// An Error adds the place of an error in a source. Where is the name of the part.
type Error = place.Error
