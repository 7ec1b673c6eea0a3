package input

import (
	"errors"
	"strings"
	"unicode"

	"github.com/ffconvert/ffconvert/input/remote"
)

// remoteError places an error of package remote. It wraps the kind of this package that is
// the same, and the error itself. name is shown, so it must be redacted.
func remoteError(name string, err error) error {
	e, ok := errors.AsType[*remote.Error](err)
	if !ok {
		return ioError(name, err)
	}
	return &Error{Name: name, Off: -1, Err: &remoteProblem{e}, Hint: oneLine(e.Hint)}
}

// A remoteProblem is a [remote.Error] without its URL and its hint, which an [Error] has.
type remoteProblem struct{ of *remote.Error }

func (p *remoteProblem) Error() string { return oneLine(p.of.Problem()) }

func (p *remoteProblem) Unwrap() []error {
	for _, row := range []struct{ theirs, ours error }{
		{remote.ErrURL, ErrPattern},
		{remote.ErrNoList, ErrPattern},
		{remote.ErrNotFound, ErrNotFound},
		{remote.ErrChanged, ErrChanged},
	} {
		if errors.Is(p.of, row.theirs) {
			return []error{row.ours, p.of}
		}
	}
	return []error{p.of}
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
