package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/ffconvert/ffconvert/input/cache"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

// Kinds of failure. Every error of this package is an [*Error] that wraps one of
// them, an operating system error, or the cause of a cancelled context.
var (
	// Mistakes on the command line.
	ErrPattern  = place.New(place.Usage, "bad pattern")
	ErrNoMatch  = place.New(place.Refused, "nothing matches")
	ErrRepeated = place.New(place.Usage, "given twice")
	ErrScheme   = place.New(place.Usage, "scheme not supported")
	ErrList     = place.New(place.Usage, "bad list of names")

	// Inputs that are refused.
	ErrNotFound     error = notFound{} // errors.Is(err, fs.ErrNotExist) holds as well
	ErrNotRegular         = place.New(place.Refused, "not a regular file")
	ErrNotDirectory       = place.New(place.Refused, "not a directory")
	ErrCommand            = place.New(place.Refused, "the command did not succeed")
	ErrTruncated          = place.New(place.Refused, "truncated")
	ErrMalformed          = place.New(place.Refused, "malformed")
	ErrCompression        = place.New(place.Refused, "a compression that is not supported")
	ErrChanged            = place.New(place.Refused, "changed while it was being read")
	ErrRatio              = place.New(place.Refused, "decompresses suspiciously well")
	ErrKey                = place.New(place.Refused, "its key cannot be the path of a file")
	ErrQuota              = cache.ErrQuota
)

type notFound struct{}

func (notFound) Error() string         { return "no such file" }
func (notFound) PlaceKind() place.Kind { return place.Refused }
func (notFound) Is(target error) bool  { return target == fs.ErrNotExist }

// Error places a problem.
type Error = place.Error

// refuse reports kind, with the details where there are any.
func refuse(name string, kind error, hint, format string, args ...any) *Error {
	err := kind
	if format != "" {
		err = fmt.Errorf("%w: %w", kind, fmt.Errorf(format, args...))
	}
	return &Error{Where: name, Off: -1, Err: err, Hint: hint}
}

// ioError places an operating system error; the path it carries is dropped where
// the name says the same.
func ioError(name string, err error) *Error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		err = fmt.Errorf("%s: %w", pe.Op, pe.Err)
	case errors.As(err, &le):
		err = fmt.Errorf("%s: %w", le.Op, le.Err)
	}
	e := &Error{Where: name, Off: -1, Err: err}
	if _, ok := errors.AsType[syscall.Errno](err); ok {
		e.Kind = place.IO
	}
	if errors.Is(err, fs.ErrPermission) {
		e.Hint = "check its permissions and its directory's"
	}
	return e
}

// cacheError places a failure to stage the copy of name in dir.
func cacheError(name, dir string, err error) error {
	if _, placed := errors.AsType[*Error](err); placed {
		return err
	}
	e := ioError(name, err)
	switch {
	case errors.Is(err, ErrQuota):
		e.Err = fmt.Errorf("%w, in %s", err, text.Name(dir))
		e.Hint = "raise --cache-size, or convert fewer shards at once with --jobs"
	case errors.Is(err, ErrCopy):
		e.Err = copyError(dir, err)
	case errors.Is(err, cache.ErrChanged):
		e.Err = fmt.Errorf("%w: in %s: %w", ErrChanged, text.Name(dir), err)
		e.Hint = "give it a --cache-dir of its own"
	default:
		e.Err = fmt.Errorf("stage in %s: %w", text.Name(dir), e.Err)
		e.Hint = otherCache
	}
	return e
}

// otherCache is what to do about a directory that cannot have the copies.
const otherCache = "see to the directory, or name another --cache-dir"

// sourceError is ioError for a file that was there when it was found.
func sourceError(name string, err error) *Error {
	if isMissing(err) {
		return refuse(name, ErrNotFound, "it was there a moment ago", "")
	}
	return ioError(name, err)
}

// isMissing tells a name that leads nowhere from a file that cannot be looked at.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir)
}

// unexpected makes the end of input inside a structure what it is.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
