package input

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"runtime"
	"syscall"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/text"
)

// Kinds of error of this package and of package stage. Every error is a [*place.Error] that wraps one of them, an
// operating system error, or the cause of a cancelled context.
var (
	// Mistakes on the command line.
	errPattern  = place.New(place.Usage, "bad pattern")
	ErrNoMatch  = place.New(place.Refused, "nothing matches")
	errRepeated = place.New(place.Usage, "given twice")
	ErrScheme   = place.New(place.Usage, "scheme not supported")
	errList     = place.New(place.Usage, "bad list of names")

	// Inputs that are refused.
	ErrNotFound     error = notFound{} // errors.Is(err, fs.ErrNotExist) holds as well
	ErrNotRegular         = place.New(place.Refused, "not a regular file")
	ErrNotDirectory       = place.New(place.Refused, "not a directory")
	ErrCommand            = place.New(place.Refused, "the command did not succeed")
	ErrMalformed          = place.New(place.Refused, "malformed")
	ErrChanged            = place.New(place.Refused, "changed while it was being read")
	ErrKey                = place.New(place.Refused, "its key cannot be the path of a file")
)

type notFound struct{}

func (notFound) Error() string         { return "no such file" }
func (notFound) PlaceKind() place.Kind { return place.Refused }
func (notFound) Is(target error) bool  { return target == fs.ErrNotExist }

// isMissing reports whether no file has the name. It is false for a file that exists but cannot be examined.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// namesNothing reports whether err means that the file is missing, or that the text, such as a pattern or a URL,
// cannot be a file name. Windows has several errors for such a text.
func namesNothing(err error) bool {
	return isMissing(err) || errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.EINVAL) || runtime.GOOS == "windows"
}

// RemoteError adds a place to an error of package store. It wraps err and the kind of this package that corresponds to
// it. name is shown in the error, so it must be redacted. An error that has a place is returned unchanged.
func RemoteError(name string, err error) error {
	e, ok := errors.AsType[*store.Error](err)
	if _, placed := errors.AsType[*place.Error](err); placed {
		return err
	}
	if !ok {
		return place.IOError(name, err)
	}
	return &place.Error{Where: name, Off: -1, Err: &remoteProblem{e}, Hint: text.Spaces(e.Hint)}
}

// ReadAt returns a reader of ranges of the object of n, until ctx is done. Its errors do not name the object.
func (n Name) ReadAt(ctx context.Context, s store.Store) io.ReaderAt {
	return rangesOf{store.ReadAt(ctx, s, *n.Object)}
}

type rangesOf struct{ io.ReaderAt }

func (r rangesOf) ReadAt(p []byte, off int64) (int, error) {
	k, err := r.ReaderAt.ReadAt(p, off)
	if e, ok := errors.AsType[*store.Error](err); ok {
		err = place.WithHint(&remoteProblem{e}, text.Spaces(e.Hint))
	}
	return k, err
}

// A remoteProblem is a [store.Error] without its URL and hint, which the enclosing [place.Error] has.
type remoteProblem struct{ of *store.Error }

func (p *remoteProblem) Error() string { return text.Spaces(p.of.Problem()) }

func (p *remoteProblem) Unwrap() []error {
	for _, row := range []struct{ theirs, ours error }{
		{store.ErrURL, errPattern},
		{store.ErrNoList, errPattern},
		{store.ErrNotFound, ErrNotFound},
		{store.ErrChanged, ErrChanged},
	} {
		if errors.Is(p.of, row.theirs) {
			return []error{row.ours, p.of}
		}
	}
	return []error{p.of}
}
