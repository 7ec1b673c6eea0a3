package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/input/cache"
)

// Kinds of failure. Every error of this package is an [*Error] that wraps one of
// them, an operating system error, or the cause of a cancelled context.
var (
	// Mistakes on the command line.
	ErrPattern  = errors.New("bad pattern")
	ErrNoMatch  = errors.New("nothing matches")
	ErrRepeated = errors.New("given twice")
	ErrScheme   = errors.New("scheme not supported")
	ErrList     = errors.New("bad list of names")

	// Inputs that are refused.
	ErrNotFound     error = notFound{} // errors.Is(err, fs.ErrNotExist) holds as well
	ErrNotRegular         = errors.New("not a regular file")
	ErrNotDirectory       = errors.New("not a directory")
	ErrCommand            = errors.New("the command did not succeed")
	ErrTruncated          = errors.New("truncated")
	ErrMalformed          = errors.New("malformed")
	ErrCompression        = errors.New("a compression that is not supported")
	ErrChanged            = errors.New("changed while it was being read")
	ErrRatio              = errors.New("decompresses suspiciously well")
	ErrKey                = errors.New("its key cannot be the path of a file")
	ErrQuota              = cache.ErrQuota
)

type notFound struct{}

func (notFound) Error() string        { return "no such file" }
func (notFound) Is(target error) bool { return target == fs.ErrNotExist }

// Error places a problem. It prints on one line: name, offset, problem, what to do.
type Error struct {
	Name string // the input, pattern or environment variable
	Off  int64  // byte offset in the named file, -1 where there is none
	Err  error
	Hint string // what to do about it; may be empty
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(quote(e.Name))
	if e.Off >= 0 {
		fmt.Fprintf(&b, ": offset %d", e.Off)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// quote leaves an ordinary name alone and quotes one that could forge a line,
// drive a terminal or hide in a sentence.
func quote(name string) string {
	q := strconv.Quote(name)
	if name == "" || q[1:len(q)-1] != name {
		return q
	}
	return name
}

// refuse reports kind, with the details where there are any.
func refuse(name string, kind error, hint, format string, args ...any) *Error {
	err := kind
	if format != "" {
		err = fmt.Errorf("%w: %w", kind, fmt.Errorf(format, args...))
	}
	return &Error{Name: name, Off: -1, Err: err, Hint: hint}
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
	e := &Error{Name: name, Off: -1, Err: err}
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
		e.Err = fmt.Errorf("%w, in %s", err, quote(dir))
		e.Hint = "raise --cache-size, or convert fewer shards at once with --jobs"
	case errors.Is(err, ErrCopy):
		e.Err = copyError(dir, err)
	case errors.Is(err, cache.ErrChanged):
		e.Err = fmt.Errorf("%w: in %s: %w", ErrChanged, quote(dir), err)
		e.Hint = "give it a --cache-dir of its own"
	default:
		e.Err = fmt.Errorf("stage in %s: %w", quote(dir), e.Err)
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
