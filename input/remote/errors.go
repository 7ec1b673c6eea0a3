package remote

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kinds of failure. Every error of this package is an [*Error] that wraps one of them, an
// operating system error, or the cause of a cancelled context.
var (
	ErrURL         = errors.New("bad URL")                             // a mistake on the command line
	ErrNoList      = errors.New("the service gives no lists")          // nor may it be a pattern, then
	ErrNotFound    = errors.New("no such object")                      // 404, no such bucket
	ErrDenied      = errors.New("access denied")                       // 401, 403, no or expired credentials
	ErrSetting     = errors.New("wrong setting")                       // wrong region, endpoint, path style
	ErrPage        = errors.New("an HTML page in place of data")       // of an error or a login
	ErrChanged     = errors.New("changed while it was being fetched")  // another version, another size
	ErrLength      = errors.New("wrong length")                        // Content-Length is not what came
	ErrSum         = errors.New("wrong checksum")                      // not that of the service
	ErrUnavailable = errors.New("the service does not answer")         // after all retries: network, 429, 5xx
	ErrTLS         = errors.New("the server's identity is not proven") // certificate, TLS version
	ErrRedirect    = errors.New("refused to be redirected")            // too often, to another scheme
)

// Error says what happened to which object. It prints on one line.
type Error struct {
	URL    string // redacted
	Kind   error  // one of the above; nil where Err says all
	Status int    // of HTTP; 0: none came
	Err    error  // the details; may be nil
	Hint   string // what to do about it; may be empty

	Again bool          // another attempt may succeed
	After time.Duration // which the service wants no sooner than this; 0: not said
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.URL)
	b.WriteString(": ")
	b.WriteString(e.Problem())
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return b.String()
}

// Problem is the error without the URL and the hint.
func (e *Error) Problem() string {
	switch {
	case e.Kind != nil && e.Err != nil:
		return fmt.Sprintf("%v: %v", e.Kind, e.Err)
	case e.Kind != nil:
		return e.Kind.Error()
	}
	return fmt.Sprint(e.Err)
}

func (e *Error) Unwrap() []error {
	var errs []error
	for _, err := range []error{e.Kind, e.Err} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}
