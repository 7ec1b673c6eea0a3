//go:build !linux

package aio

import (
	"errors"
	"os"
)

func openDirect(func(flag int) (*os.File, error)) (f *os.File, align int, why string, err error) {
	return nil, 0, "no O_DIRECT on this system", nil
}

// SetDirect returns an error: this system has no O_DIRECT.
func SetDirect(*os.File, bool) error { return errors.ErrUnsupported }

func asDirect(*os.File) (*File, error) { return nil, errors.ErrUnsupported }
