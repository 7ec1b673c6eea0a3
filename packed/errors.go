package packed

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ffconvert/ffconvert/internal/place"
)

// Errors of this package. Functions also return errors of the operating system, such as
// [fs.ErrNotExist] and [fs.ErrExist], and errors of package record for damaged samples.
var (
	ErrUnsupported = place.New(place.Refused, "not supported")                     // the tree has something that a packed folder cannot hold
	ErrChanged     = place.New(place.Refused, "changed while it was being packed") // a file of the tree
	ErrLimit       = place.New(place.Refused, "over a limit")                      // a file, a path or the number of files
	ErrNotPacked   = place.New(place.Refused, "not a packed folder")               // the file may still be a sound shard
	ErrNotEmpty    = place.New(place.Usage, "not an empty directory")              // the destination of Extract
	ErrMalformed   = place.New(place.Refused, "malformed names")                   // the names of a packed folder are damaged or hostile
)

// An Error adds the place of an error. It prints on one line: path, sample, name, error, hint.
type Error struct {
	Path   string // of the packed file or of the folder
	Sample int64  // -1 if the error is not about one sample
	Name   string // path in the folder; may be empty
	Err    error
	Hint   string // what to do about it; may be empty
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	if e.Sample >= 0 {
		fmt.Fprintf(&b, ": sample %d", e.Sample)
	}
	if e.Name != "" {
		fmt.Fprintf(&b, ": %q", e.Name)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// PlaceKind says that a folder is refused; that something has its name already is a mistake on the
// command line.
func (e *Error) PlaceKind() place.Kind {
	if errors.Is(e.Err, fs.ErrExist) && place.KindOf(e.Err) == place.None {
		return place.Usage
	}
	return place.Refused
}

// cause returns the error within a [fs.PathError], because an Error has the path already, or err.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
