//go:build unix

package blocking

import (
	"os"
	"syscall"
)

// Open opens a file to be read. It does not wait where the file is a named pipe.
func Open(path string) (*os.File, error) {
	return File(os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0))
}
