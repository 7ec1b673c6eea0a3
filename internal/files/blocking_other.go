//go:build !unix

package files

import "os"

// Blocking returns its arguments: files are not registered with a poller here.
func Blocking(f *os.File, err error) (*os.File, error) { return f, err }

// Open opens a file to be read.
func Open(path string) (*os.File, error) { return os.Open(path) }
