//go:build !linux

package aio

import (
	"errors"
	"os"
)

// newRing returns nil: only Linux has Linux AIO.
func newRing() kernel { return nil }
func ringMem(int) int { return 0 }

// inCache returns false: there is no system call for it.
func inCache(*os.File, int64, int64) bool { return false }

// willNeed does nothing: the system reads ahead by itself.
func willNeed(*os.File, int64, int64) {}

// ReadAhead does nothing.
func ReadAhead(*os.File, bool) {}

// readCached is pread: the system cannot read without waiting.
func readCached(f *File, buf []byte, off int64) (int, error) { return pread(f, buf, off) }

func openDirect(func(flag int) (*os.File, error)) (f *os.File, align int, why string, err error) {
	return nil, 0, "no O_DIRECT on this system", nil
}

// SetDirect returns an error: this system has no O_DIRECT.
func SetDirect(*os.File, bool) error { return errors.ErrUnsupported }

func asDirect(*os.File) (*File, error) { return nil, errors.ErrUnsupported }

// MountType returns "": the type is not known on this system.
func MountType(int) string { return "" }

// Uncache does nothing and returns an unknown origin on this system.
func (f *File) Uncache() Origin { return unknownOrigin }

func useHugePages([]byte) {}
