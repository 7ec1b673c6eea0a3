//go:build !unix

package blocking

import "os"

// File returns its arguments: files are not registered with a poller here.
func File(f *os.File, err error) (*os.File, error) { return f, err }

// Open opens a file to be read.
func Open(path string) (*os.File, error) { return os.Open(path) }
