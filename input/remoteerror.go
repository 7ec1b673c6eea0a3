package input

import (
	"errors"
	"strings"
	"unicode"

	"github.com/ffconvert/ffconvert/input/remote"
)

// Kinds of failure of the network side. [ErrNotFound] and [ErrChanged] are among them, too.
var (
	ErrURL         = remote.ErrURL
	ErrNoList      = remote.ErrNoList
	ErrDenied      = remote.ErrDenied
	ErrSetting     = remote.ErrSetting
	ErrPage        = remote.ErrPage
	ErrLength      = remote.ErrLength
	ErrSum         = remote.ErrSum
	ErrUnavailable = remote.ErrUnavailable
	ErrTLS         = remote.ErrTLS
	ErrRedirect    = remote.ErrRedirect
)

// remoteError places an error of the network side under the name of the input.
func remoteError(name string, err error) error {
	e, ok := errors.AsType[*remote.Error](err)
	if !ok {
		return ioError(name, err)
	}
	return &Error{Name: name, Off: -1, Err: remoteProblem{e}, Hint: oneLine(e.Hint)}
}

// A remoteProblem is an error of the network side without the URL and the hint, for which an
// [Error] has its own place.
type remoteProblem struct{ err *remote.Error }

func (p remoteProblem) Error() string { return oneLine(p.err.Problem()) }
func (p remoteProblem) Unwrap() error { return p.err }

// Is knows the kinds that this package has of its own.
func (p remoteProblem) Is(target error) bool {
	switch p.err.Kind {
	case remote.ErrNotFound:
		return errors.Is(ErrNotFound, target)
	case remote.ErrChanged:
		return target == ErrChanged
	}
	return false
}

// oneLine keeps what a service says from forging a line or driving a terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}
