package converters

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ffconvert/ffconvert/internal/files"
)

// A File is an open part. It is an alias, so that a package can have a [Copy.Check] without importing this one.
type File = interface {
	io.ReaderAt
	io.Closer
}

// FileSums are checksums of the files below a staged directory. Paths have slashes. The methods may
// be called concurrently.
type FileSums interface {
	// CheckFile returns an error unless b is the whole content of the file staged at path.
	CheckFile(path string, b []byte) error
	// CheckListed returns an error unless the file staged at path has this size and modification time.
	CheckListed(path string, size int64, modified time.Time) error
	// CheckDir returns an error unless the directory at path was staged with this number of
	// entries. "" is the staged directory itself.
	CheckDir(path string, entries int) error
}

// A Part is one local, seekable, uncompressed file of a source. If the input is compressed or remote, Path is its
// staged copy. A part without Path is the concatenation of the files of a directory, in order. Only the index knows the
// size of such a part; an offset in it is the total size of the preceding files.
type Part struct {
	Name    string    // as the user named it; shown in manifests and errors
	Path    string    // of the file, or the name of an object that is read by ranges; "" if the part is neither
	Size    int64     // of the file in bytes
	ModTime time.Time // of the file when the part was found; zero if it must not be compared

	// Copy is set if Path is, or will be, a staged copy; ModTime is then not the time of the input. It is a pointer
	// because a source may have very many parts without a copy.
	Copy *Copy
}

// A Copy describes a staged copy and its input.
type Copy struct {
	// Mark identifies the version of the input. "" means unknown.
	Mark files.Pin

	// Content is a digest of the bytes, "" if unknown. Without a Mark (standard input, output of commands) only the
	// digest shows whether the input has changed.
	Content string

	// Object, if not nil, reads the input itself, of which there is no copy, by ranges. It may be used concurrently.
	Object io.ReaderAt

	// Check returns a file that reads f, the copy. Its ReadAt fails if the bytes differ from the bytes that were
	// written. Closing it closes f. nil for a directory, and before the copy is made.
	Check func(f File) File

	// Files verify the files below a directory. nil for a file.
	Files FileSums
}

// IsObject reports whether the part is read by ranges over a network: what has come damaged may be read again.
func (p *Part) IsObject() bool { return p.Copy != nil && p.Copy.Object != nil }

// Open opens the part. The error is [ErrChanged] if the path is no regular file any more, or the size or the time of the
// file differs from the part.
func (p Part) Open() (File, error) { return new(Files).Open(p, Cached) }

func (p Part) open() (*os.File, error) {
	f, err := files.Open(p.Path)
	if err != nil {
		return nil, p.failed(err)
	}
	if err := p.unchanged(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// failed adds the place to an error of the file.
func (p Part) failed(err error) error {
	if p.Copy == nil {
		err = nameless(err)
	}
	return &Error{Where: p.Name, Off: -1, Err: err}
}

func (p Part) unchanged(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return p.failed(err)
	}
	switch {
	case !st.Mode().IsRegular():
		err = fmt.Errorf("%w: it is not a regular file any more", ErrChanged)
	case st.Size() != p.Size:
		err = fmt.Errorf("%w: it had %d bytes, it has %d", ErrChanged, p.Size, st.Size())
	case !p.ModTime.IsZero() && !st.ModTime().Equal(p.ModTime):
		err = fmt.Errorf("%w: it was modified at %s", ErrChanged, st.ModTime().UTC().Format(time.RFC3339))
	default:
		return nil
	}
	if p.Copy != nil {
		err = fmt.Errorf("its staged copy %s: %w", p.Path, err)
	}
	return &Error{Where: p.Name, Off: -1, Err: err}
}
