package converters

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ffconvert/ffconvert/internal/blocking"
	"github.com/ffconvert/ffconvert/internal/pin"
)

// A File is a part that was opened. It is an alias, so that a package that must not know this one
// can have [Sums].
type File = interface {
	io.ReaderAt
	io.Closer
}

// Sums are the checksums of a staged copy, from when it was written.
type Sums interface {
	// Check returns a file that reads f, which is the copy. Its ReadAt fails where the copy has
	// other bytes than were written to it. Closing it closes f.
	Check(f File) File
}

// FileSums are the checksums of the files below a staged directory. Paths have slashes. The methods
// may be called concurrently.
type FileSums interface {
	// CheckFile returns an error unless b is all of the file that was staged under this path.
	CheckFile(path string, b []byte) error
	// CheckListed returns an error where a file that lies under this path now has another size, or
	// another time, than was staged.
	CheckListed(path string, size int64, modified time.Time) error
	// CheckDir returns an error unless a directory has as many entries as it was staged with; ""
	// is the staged directory itself.
	CheckDir(path string, entries int) error
}

// A Part is one local, seekable, uncompressed file of a source. Where the named
// input was compressed or remote, Path is its staged copy. A part without Path is no
// single file: it is the files of a directory, back to back, in order. Its size is then
// known to the index alone, and an offset in it is the number of bytes of the files before.
type Part struct {
	Name    string    // as the user named it; manifests and errors show it
	Path    string    // where its bytes are; "": no single file
	Size    int64     // bytes at Path
	ModTime time.Time // of Path when the part was found; zero: not checked

	// Copy says that Path is, or will be, a copy made for this run, so that ModTime is not that of
	// the source. nil: it is the named input itself, of which a source may have very many.
	Copy *Copy
}

// A Copy is what is known of a staged copy and of the input that it is of.
type Copy struct {
	// Mark is what tells one state of the named input from another; "": nothing does.
	Mark pin.Pin

	// Content is a digest of the bytes. Where Mark is "", as of standard input and what commands
	// write, it alone tells whether they are the same again. "": not known.
	Content string

	// Sums check what Part.Open's file reads. nil: the copy is a directory, or not made yet.
	Sums Sums

	// Files check the files below a directory. nil: the copy is a file.
	Files FileSums
}

// Open opens the part and makes sure that it is still the regular file that was found:
// same size, same modification time. A difference is [ErrChanged].
func (p Part) Open() (File, error) { return p.OpenFor(AnyAccess) }

func (p Part) open() (*os.File, error) {
	f, err := blocking.File(os.Open(p.Path))
	if err != nil {
		return nil, &Error{Where: p.Name, Off: -1, Err: err}
	}
	if err := p.unchanged(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (p Part) unchanged(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return &Error{Where: p.Name, Off: -1, Err: err}
	}
	switch {
	case !st.Mode().IsRegular():
		err = fmt.Errorf("%w: not a regular file", ErrUnsupported)
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
