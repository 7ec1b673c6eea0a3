//go:build !linux

package aio

import "os"

func openDirect(func(flag int) (*os.File, error)) (f *os.File, align int, why string, err error) {
	return nil, 0, "no O_DIRECT on this system", nil
}
