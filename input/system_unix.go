//go:build linux || darwin

package input

import (
	"errors"
	"os"
	"syscall"

	"github.com/ffconvert/ffconvert/internal/blocking"
)

const errNotDir = syscall.ENOTDIR

// namesNothing tells the error of a text that is not the name of a file, as a pattern or a URL is
// not, from the error of a file that cannot be looked at.
func namesNothing(err error) bool {
	return isMissing(err) || errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.EINVAL)
}

// openSource opens a file to be read, without waiting where a named pipe has taken
// the place of the regular file that was found.
func openSource(path string) (*os.File, error) {
	return blocking.File(os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0))
}
