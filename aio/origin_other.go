//go:build !linux

package aio

// MountType is not known on this system.
func MountType(int) string { return "" }

// Uncache tells where reads of the file take their bytes from: not known on this system.
func (f *File) Uncache() Origin { return unknownOrigin }
