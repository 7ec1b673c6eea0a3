package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/files"
)

// openFlags keep open from blocking if the file has become a fifo.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK

// A file is an open file. Tests replace it.
type file interface {
	io.ReadCloser
	Stat() (fs.FileInfo, error)
}

// A hand reads files of one part, one at a time. It keeps the directory of the last file open, so that a file takes
// five system calls: openat, fstat, read, fstat, close.
type hand struct {
	src  *source
	part *part
	l    *listing
	dir  *os.Root
	at   uint32 // directory of dir, as in entry.dir
}

// file reads file i into b. It is an error if size or time differ from the listing before or after.
func (h *hand) file(i int, b []byte) error {
	l := &h.l.files[i]
	err := h.readListed(l, b)
	if files := h.part.tree.files; err == nil && files != nil {
		err = files.CheckFile(h.l.path(l.dir, l.name), b)
	}
	if err != nil {
		return h.part.fail(h.l.path(l.dir, l.name), err, "")
	}
	return nil
}

// readListed does what file does, without comparing the checksums of a staged copy.
func (h *hand) readListed(l *entry, b []byte) error {
	opened, err := h.open(l)
	if err != nil {
		return err
	}
	return readUnchanged(h.src.opened(opened), l.mtime, b)
}

// readUnchanged reads a file of len(b) bytes into b, and closes it. It is an error if size or time differ from the
// listing, before or after.
func readUnchanged(f file, mtime int64, b []byte) error {
	err := unchanged(f, mtime, len(b))
	if err == nil {
		_, err = io.ReadFull(f, b)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("%w: it became shorter", converters.ErrChanged)
		}
	}
	if err == nil {
		err = unchanged(f, mtime, len(b))
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

func unchanged(f file, mtime int64, size int) error {
	st, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return fmt.Errorf("%w: not a regular file", converters.ErrChanged)
	case st.Size() != int64(size):
		return fmt.Errorf("%w: it had %d bytes, it has %d", converters.ErrChanged, size, st.Size())
	case st.ModTime().UnixNano() != mtime:
		return fmt.Errorf("%w: it was modified at %s", converters.ErrChanged, st.ModTime().UTC().Format(time.RFC3339))
	}
	return nil
}

// open opens a file of the listing. It refuses a path that leads outside the root, unless
// Options.FollowOutside is set.
func (h *hand) open(l *entry) (*os.File, error) {
	name := string(h.l.names.name(l.name))
	if h.l.names.kind(l.name) == kindLink {
		real, err := h.src.follow(h.part.tree, filepath.Join(h.real(l.dir), name))
		if err != nil {
			return nil, err
		}
		dir, err := h.openDir(filepath.Dir(real))
		if err != nil {
			return nil, err
		}
		defer dir.Close()
		return openIn(dir, filepath.Base(real))
	}
	if h.dir == nil || h.at != l.dir {
		h.Close()
		dir, err := h.openDir(h.real(l.dir))
		if err != nil {
			return nil, err
		}
		h.dir, h.at = dir, l.dir
	}
	return openIn(h.dir, name)
}

func openIn(dir *os.Root, name string) (*os.File, error) {
	f, err := files.Blocking(dir.OpenFile(name, openFlags, 0))
	return f, escaped(err)
}

// escaped returns ErrChanged for an error of os.Root itself, not of the operating system: after the listing the path
// was changed to one outside the root.
func escaped(err error) error {
	var errno syscall.Errno
	if err == nil || errors.As(err, &errno) {
		return err
	}
	return fmt.Errorf("%w: %w", converters.ErrChanged, bare(err))
}

// real returns the path of a directory of the listing without symbolic links.
func (h *hand) real(dir uint32) string {
	path := h.l.names.text(dir)
	if real := h.l.names.text(dir + uint32(len(path)) + 1); len(real) > 0 {
		return string(real)
	}
	return filepath.Join(h.part.tree.real, string(path))
}

// openDir opens a directory by its real path.
func (h *hand) openDir(real string) (*os.Root, error) {
	if h.src.opts.FollowOutside {
		return os.OpenRoot(real)
	}
	below, err := filepath.Rel(h.part.tree.real, real)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(h.part.tree.real)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	dir, err := root.OpenRoot(below)
	return dir, escaped(err)
}

// Close closes the directory. The hand can be used again.
func (h *hand) Close() {
	if h.dir != nil {
		h.dir.Close()
		h.dir = nil
	}
}
