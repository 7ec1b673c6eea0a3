package tar

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// A member is one entry of a tar.
type member struct {
	off  int64  // of its first block, including metadata before its header
	typ  byte   // typeRegular for all regular files, typeDirectory for all directories
	size int64  // of the payload in bytes; the part has payload and padding
	name []byte // valid until the next member
}

// members reads the headers of one part.
type members struct {
	c    *scan.Window
	part string // its name, for errors
	tar  string // name of the inner tar with the members; "": the part itself
	buf  []byte // the name of the current member
	over override
	last template

	maxHeader int64 // of metadata, bytes
}

// reset prepares for the part p, which c reads.
func (w *members) reset(c *scan.Window, p converters.Part, maxHeader int64) {
	w.c, w.part, w.tar, w.maxHeader = c, p.Name, "", maxHeader
	w.over.reset()
}

// next reads up to the payload of the next member, and sets m. The payload of the previous member must have been
// skipped. It returns false at a zero block and at the end of the part.
func (w *members) next(m *member) (ok bool, err error) {
	*m = member{off: w.c.Offset()}
	w.over.reset()
	for {
		at := w.c.Offset()
		if at == w.c.Size && !w.over.any() {
			return false, nil
		}
		if w.c.Size-at < blockSize {
			return false, w.fail(at, nil, fmt.Errorf("%w: the file ends where a header should be, at %d bytes", converters.ErrTruncated, w.c.Size), "")
		}
		b, err := w.c.Peek(blockSize)
		if err != nil {
			return false, w.fail(at, nil, err, "")
		}
		if zeros(b) {
			if w.over.any() {
				return false, w.fail(at, nil, fmt.Errorf("%w: the archive ends between a PAX header or long name and its member", converters.ErrMalformed), "")
			}
			return false, nil
		}
		h, err := w.last.parse(b, w.buf[:0])
		if err != nil {
			return false, w.fail(at, h.name, err, "")
		}
		w.buf = h.name
		w.c.Skip(blockSize)
		switch h.typ {
		case typePAX, typePAXGlobal, typeLongName, typeLongLink:
			if err := w.metadata(h); err != nil {
				return false, w.fail(at, nil, err, "")
			}
			if h.typ == typePAXGlobal {
				m.off = w.c.Offset()
				if err := w.follows(); err != nil {
					return false, w.fail(at, nil, err, "")
				}
			}
			continue
		}
		if err := w.finish(m, h); err != nil {
			return false, w.fail(m.off, m.name, err, "")
		}
		return true, nil
	}
}

// metadata consumes the payload of a PAX header or of a GNU long name.
func (w *members) metadata(h header) error {
	at := w.c.Offset()
	switch {
	case h.size > w.maxHeader:
		return fmt.Errorf("%w: %d bytes in a PAX header or long name, at most %d are read", errMetadata, h.size, w.maxHeader)
	case padded(h.size) > w.c.Size-at:
		return fmt.Errorf("%w: the file ends inside a PAX header or long name, at %d bytes", converters.ErrTruncated, w.c.Size)
	}
	b, err := w.c.Peek(int(padded(h.size)))
	if err != nil {
		return err
	}
	// tarfile parses the padding too.
	payload, padding := b[:h.size], b[h.size:]
	if !zeros(padding) {
		return fmt.Errorf("%w: bytes in the padding of a PAX header or long name", converters.ErrMalformed)
	}
	switch h.typ {
	case typePAXGlobal:
		if w.over.any() {
			return fmt.Errorf("%w: a global PAX header between a member and its own", converters.ErrMalformed)
		}
		err = w.over.records(payload, true)
	case typePAX:
		err = w.over.records(payload, false)
	default:
		err = w.over.longName(payload, h.typ == typeLongLink)
	}
	w.c.Skip(padded(h.size))
	return err
}

// follows returns an error unless another header follows a global PAX header, as tarfile requires.
func (w *members) follows() error {
	if w.c.Size-w.c.Offset() < blockSize {
		return fmt.Errorf("%w: the file ends behind a global PAX header", converters.ErrTruncated)
	}
	b, err := w.c.Peek(blockSize)
	if err == nil && zeros(b) {
		err = fmt.Errorf("%w: the archive ends behind a global PAX header", converters.ErrMalformed)
	}
	return err
}

// finish sets m from its header and the preceding metadata.
func (w *members) finish(m *member, h header) error {
	m.typ, m.size, m.name = h.typ, h.size, h.name
	o := &w.over
	if o.hasLong {
		m.name = o.long
	}
	if o.hasPath {
		if o.hasLong && !bytes.Equal(o.long, o.path) {
			return fmt.Errorf("%w: PAX path and GNU long name disagree", converters.ErrMalformed)
		}
		m.name = o.path
	}
	if o.size >= 0 {
		m.size = o.size
	}
	if len(m.name) == 0 {
		return fmt.Errorf("%w: a member without a name", converters.ErrMalformed)
	}

	slash := m.name[len(m.name)-1] == '/'
	switch m.typ {
	case 0:
		m.typ = typeRegular
		// In a tar of Unix V7 a slash at the end marks a directory. Python checks the name field, GNU tar the resulting
		// name, without the root.
		if h.dir {
			m.typ = typeDirectory
			if !slash || len(bytes.Trim(m.name, "/")) == 0 {
				return fmt.Errorf("%w: a directory to some readers, a file to others", converters.ErrMalformed)
			}
		}
	case '7': // a contiguous file
		m.typ = typeRegular
	}
	if slash && m.typ != typeDirectory && m.typ != typeDumpDir {
		return fmt.Errorf("%w: the name of a directory, in a member of type %q", converters.ErrMalformed, m.typ)
	}
	switch m.typ {
	case typeRegular:
	case typeDumpDir:
		m.typ = typeDirectory
	case typeDirectory, typeHardLink, typeSymlink, typeChar, typeBlock, typeFIFO, typeVolume:
		if m.size != 0 {
			return fmt.Errorf("%w: a member of type %q has a size, %d bytes: readers disagree whether they follow", converters.ErrMalformed, m.typ, m.size)
		}
	case typeSparse:
		return errSparse
	case typeMulti:
		return fmt.Errorf("%w: one volume of several", converters.ErrUnsupported)
	default:
		return fmt.Errorf("%w: a member of type %q", converters.ErrUnsupported, m.typ)
	}
	switch left := w.c.Size - w.c.Offset(); {
	case m.size > left:
		return fmt.Errorf("%w: the member has %d bytes, the file ends after %d of them", converters.ErrTruncated, m.size, left)
	case padded(m.size) > left:
		return fmt.Errorf("%w: the file ends in the padding behind the member", converters.ErrTruncated)
	}
	return nil
}

// errSparse is the error for all forms of sparse members: old GNU, and PAX 0.0, 0.1 and 1.0.
var errSparse = fmt.Errorf("%w: a sparse file", converters.ErrUnsupported)

// errMetadata is the error for metadata over Options.MaxHeader.
var errMetadata = fmt.Errorf("%w", converters.ErrLimit)

// fail places an error.
func (w *members) fail(off int64, entry []byte, err error, hint string) error {
	switch {
	case errors.Is(err, errSparse):
		hint = "unpack it, and pack it anew without --sparse; bsdtar --no-read-sparse"
	case errors.Is(err, errMetadata):
		hint = "option max-header-size"
	}
	name := string(clip(entry))
	if w.tar != "" {
		name = strings.TrimSuffix(string(clip([]byte(w.tar)))+": "+name, ": ")
	}
	return &converters.Error{Where: w.part, Off: off, Entry: name, Err: err, Hint: hint}
}

var zeroBlock [blockSize]byte

func zeros(b []byte) bool {
	if len(b) == 0 || b[0] != 0 {
		return len(b) == 0
	}
	for len(b) > blockSize {
		if !bytes.Equal(b[:blockSize], zeroBlock[:]) {
			return false
		}
		b = b[blockSize:]
	}
	return bytes.Equal(b, zeroBlock[:len(b)])
}
