package converters

import (
	"errors"
	"fmt"
	"strings"
)

// Kinds of refusal. Every error of a source wraps one of them or an operating
// system error, and is placed by an [Error].
var (
	ErrTruncated   = errors.New("truncated")
	ErrMalformed   = errors.New("malformed")
	ErrUnsupported = errors.New("not supported")
	ErrDuplicate   = errors.New("duplicate")
	ErrChanged     = errors.New("changed since it was indexed")
	ErrLimit       = errors.New("over a limit")
)

// Error places a problem in a source. It prints on one line: part, offset, entry,
// problem, what to do.
type Error struct {
	Part  string // name of the part
	Off   int64  // byte offset in the part, -1 where there is none
	Entry string // member, row, item or file; empty where there is none
	Err   error
	Hint  string // what to do about it; may be empty
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Part)
	if e.Off >= 0 {
		fmt.Fprintf(&b, ": offset %d", e.Off)
	}
	if e.Entry != "" {
		fmt.Fprintf(&b, ": %q", e.Entry)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }
