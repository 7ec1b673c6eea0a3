package converters

import (
	"errors"

	"github.com/ffconvert/ffconvert/internal/place"
)

// Kinds of refusal. Every error of a source wraps one of them or an operating
// system error, and is placed by an [Error].
var (
	ErrTruncated   = errors.New("truncated")
	ErrMalformed   = errors.New("malformed")
	ErrUnsupported = place.New(place.Refused, "not supported")
	ErrDuplicate   = errors.New("duplicate")
	ErrChanged     = place.New(place.Refused, "changed since it was indexed")
	ErrLimit       = place.New(place.Refused, "over a limit")
)

// Error places a problem in a source: Where is the name of the part.
type Error = place.Error
