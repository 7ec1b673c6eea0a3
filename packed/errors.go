package packed

import (
	"errors"
	"io/fs"

	"github.com/ffconvert/ffconvert/internal/place"
)

// Errors of this package. Functions also return errors of the operating system, such as
// [fs.ErrNotExist] and [fs.ErrExist], and errors of package record for damaged samples.
var (
	errUnsupported = place.New(place.Refused, "not supported")                     // the tree has something that a packed folder cannot hold
	errChanged     = place.New(place.Refused, "changed while it was being packed") // a file of the tree
	errLimit       = place.New(place.Refused, "over a limit")                      // a file, a path or the number of files
	ErrNotPacked   = place.New(place.Refused, "not a packed folder")               // the file may still be a sound shard
	errNotEmpty    = place.New(place.Usage, "not an empty directory")              // the destination of Extract
	errMalformed   = place.New(place.Refused, "malformed names")                   // the names of a packed folder are damaged or hostile
)

// cause returns the error within a [fs.PathError], because a [place.Error] has the path already, or err.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
