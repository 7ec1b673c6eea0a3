package packed

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Kinds of refusal. Beside them there are the errors of the operating system, such as
// [fs.ErrNotExist] and [fs.ErrExist], and those of package record for damaged samples.
var (
	// ErrUnsupported: the tree has something that a packed folder cannot hold.
	ErrUnsupported = errors.New("not supported")
	// ErrChanged: a file changed while it was being packed.
	ErrChanged = errors.New("changed while it was being packed")
	// ErrLimit: a file, a path or the number of files is over a limit.
	ErrLimit = errors.New("over a limit")
	// ErrNotPacked: the file may be a sound shard, but it is no packed folder.
	ErrNotPacked = errors.New("not a packed folder")
	// ErrNotEmpty: what is to receive a folder is not an empty directory.
	ErrNotEmpty = errors.New("not an empty directory")
	// ErrMalformed: a packed folder whose names are broken or hostile.
	ErrMalformed = errors.New("malformed names")
)

// Error places a problem. It prints on one line: file or folder, sample, name, problem,
// what to do.
type Error struct {
	Path   string // of the packed file or of the folder
	Sample int64  // -1: of no one sample
	Name   string // path in the folder; empty where there is none
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

// cause strips an error of the operating system of a name that the Error around it has.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
