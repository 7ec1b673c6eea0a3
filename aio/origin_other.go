//go:build !linux

package aio

// MountType returns "": the type is not known on this system.
func MountType(int) string { return "" }

// Uncache does nothing and returns an unknown origin on this system.
func (f *File) Uncache() Origin { return unknownOrigin }
