package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ffconvert/ffconvert/converters"
)

// errOutside is the error for a link to a target outside the root.
var errOutside = fmt.Errorf("%w: a symbolic link out of the root", converters.ErrUnsupported)

// inside returns an error unless real, a path without symbolic links, is inside the tree.
func (s *source) inside(t *tree, real string) error {
	if s.opts.FollowOutside || within(real, t.real) {
		return nil
	}
	return fmt.Errorf("%w, to %q", errOutside, real)
}

func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(dir[len(dir)-1]))
}

// follow returns the final target of a link, which must be inside the tree.
func (s *source) follow(t *tree, path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return real, s.inside(t, real)
}

// bad returns the error for an entry of kindBad.
func bad(path string) error {
	st, err := os.Lstat(path)
	if err != nil {
		return err
	}
	what := ""
	if st.Mode()&fs.ModeSymlink != 0 {
		what = "a symbolic link to "
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		switch st, err = os.Stat(path); {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%w: a symbolic link to %q, which does not exist", converters.ErrMalformed, target)
		case errors.Is(err, syscall.ELOOP):
			return fmt.Errorf("%w: a symbolic link to %q that leads back to itself", converters.ErrMalformed, target)
		case err != nil:
			return err
		}
	}
	switch mode := st.Mode(); {
	case mode&fs.ModeNamedPipe != 0:
		what += "a fifo"
	case mode&fs.ModeSocket != 0:
		what += "a socket"
	case mode&fs.ModeCharDevice != 0:
		what += "a character device"
	case mode&fs.ModeDevice != 0:
		what += "a block device"
	case mode.IsRegular() || mode.IsDir():
		return fmt.Errorf("%w: it was something else a moment ago", converters.ErrChanged)
	default:
		what += "neither file nor directory"
	}
	return fmt.Errorf("%w: %s", converters.ErrUnsupported, what)
}
