//go:build !unix

package cached

import (
	"errors"
	"os"
)

func lockFile(string, bool) (*os.File, error) {
	return nil, errors.New("a dataset in an object store is read on Unix alone: copy it, by ffconvert copy")
}

func procPath(*os.File, string) string { return "" }
