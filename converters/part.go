package converters

import (
	"fmt"
	"os"
	"time"

	"github.com/ffconvert/ffconvert/internal/blocking"
	"github.com/ffconvert/ffconvert/internal/pin"
)

// A Part is one local, seekable, uncompressed file of a source. Where the named
// input was compressed or remote, Path is its staged copy. A part without Path is no
// single file: it is the files of a directory, back to back, in order. Its size is then
// known to the index alone, and an offset in it is the number of bytes of the files before.
type Part struct {
	Name    string    // as the user named it; manifests and errors show it
	Path    string    // where its bytes are; "": no single file
	Size    int64     // bytes at Path
	ModTime time.Time // of Path when the part was found; zero: not checked
	Staged  bool      // Path is a copy made for this run, so ModTime is not that of the source

	// Mark is what tells one state of the named input from another, where Path is a staged copy
	// of it; "": nothing does.
	Mark pin.Pin
}

// Open opens the part and checks that it is still the regular file that was found:
// same size, same modification time. A difference is [ErrChanged].
func (p Part) Open() (*os.File, error) {
	f, err := blocking.File(os.Open(p.Path))
	if err != nil {
		return nil, &Error{Part: p.Name, Off: -1, Err: err}
	}
	if err := p.check(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (p Part) check(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return &Error{Part: p.Name, Off: -1, Err: err}
	}
	switch {
	case !st.Mode().IsRegular():
		err = fmt.Errorf("%w: it is no regular file", ErrUnsupported)
	case st.Size() != p.Size:
		err = fmt.Errorf("%w: it had %d bytes, it has %d", ErrChanged, p.Size, st.Size())
	case !p.ModTime.IsZero() && !st.ModTime().Equal(p.ModTime):
		err = fmt.Errorf("%w: it was modified at %s", ErrChanged, st.ModTime().UTC().Format(time.RFC3339))
	default:
		return nil
	}
	return &Error{Part: p.Name, Off: -1, Err: err}
}
