//go:build !linux

package aio

import "os"

// inCache is false: the system does not say.
func inCache(*os.File, int64, int64) bool { return false }

// willNeed does nothing: the system reads ahead by itself.
func willNeed(*os.File, int64, int64) {}

// ReadAhead does nothing.
func ReadAhead(*os.File, bool) {}

// readCached is pread: the system cannot read without waiting.
func readCached(f *File, buf []byte, off int64) (int, error) { return pread(f, buf, off) }
