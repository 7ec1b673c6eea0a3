//go:build linux || darwin

package input

import (
	"os"
	"syscall"
)

const errNotDir = syscall.ENOTDIR

// openSource opens a file to be read, without waiting where a named pipe has taken
// the place of the regular file that was found.
func openSource(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}
