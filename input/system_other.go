//go:build !linux && !darwin

package input

import (
	"io/fs"
	"os"
)

var errNotDir = fs.ErrNotExist

func openSource(path string) (*os.File, error) { return os.Open(path) }
