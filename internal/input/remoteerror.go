package input

import (
	"errors"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/text"
)

// RemoteError places an error of package store. It wraps the kind of this package that is
// the same, and the error itself. name is shown, so it must be redacted. An error that has a
// place keeps it.
func RemoteError(name string, err error) error {
	e, ok := errors.AsType[*store.Error](err)
	if _, placed := errors.AsType[*Error](err); placed {
		return err
	}
	if !ok {
		return place.IOError(name, err)
	}
	return &Error{Where: name, Off: -1, Err: &remoteProblem{e}, Hint: text.Spaces(e.Hint)}
}

// A remoteProblem is a [store.Error] without its URL and its hint, which an [Error] has.
type remoteProblem struct{ of *store.Error }

func (p *remoteProblem) Error() string { return text.Spaces(p.of.Problem()) }

func (p *remoteProblem) Unwrap() []error {
	for _, row := range []struct{ theirs, ours error }{
		{store.ErrURL, ErrPattern},
		{store.ErrNoList, ErrPattern},
		{store.ErrNotFound, ErrNotFound},
		{store.ErrChanged, ErrChanged},
	} {
		if errors.Is(p.of, row.theirs) {
			return []error{row.ours, p.of}
		}
	}
	return []error{p.of}
}
