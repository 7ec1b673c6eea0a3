package place

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Refuse returns an error of where that wraps kind, with the details where format has any.
func Refuse(where string, kind error, hint, format string, args ...any) *Error {
	err := kind
	if format != "" {
		err = fmt.Errorf("%w: %w", kind, fmt.Errorf(format, args...))
	}
	return &Error{Where: where, Off: -1, Err: err, Hint: hint}
}

// IOError places an error of the operating system. Its path is left out: where says the same.
func IOError(where string, err error) *Error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("%s: %w", pe.Op, pe.Err)
	} else if le, ok := errors.AsType[*os.LinkError](err); ok {
		err = fmt.Errorf("%s: %w", le.Op, le.Err)
	}
	e := &Error{Where: where, Off: -1, Err: err}
	if _, ok := errors.AsType[syscall.Errno](err); ok {
		e.Kind = IO
	}
	if errors.Is(err, fs.ErrPermission) {
		e.Hint = "check its permissions and its directory's"
	}
	return e
}

// A hinted error has a hint for the [Error] that will place it. Its text does not have the hint.
type hinted struct {
	error
	hint string
}

func (e *hinted) Unwrap() error { return e.error }

// WithHint returns err with a hint for [HintOf].
func WithHint(err error, hint string) error { return &hinted{err, hint} }

// HintOf returns the hint of err, with the names of options, or "".
func HintOf(err error) string {
	if e, ok := errors.AsType[*hinted](err); ok {
		return e.hint
	}
	return ""
}
