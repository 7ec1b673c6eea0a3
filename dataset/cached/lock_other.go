//go:build !unix

package cached

import (
	"errors"
	"os"
)

var errUnix = errors.New("a dataset in an object store is read on Unix alone: copy it, by ffconvert copy")

func lockFile(*os.Root, string, bool) (*os.File, error) { return nil, errUnix }

func shareFile(*os.Root, string) (*os.File, error) { return nil, errUnix }

// Start returns an error.
func Start(string, string, ...string) error { return errUnix }

func procPath(*os.File, string) string { return "" }

func freeOn(*os.File) (int64, error) { return 0, errUnix }
