//go:build !linux

package aio

// Uncache tells where reads of the file take their bytes from: not known on this system.
func (f *File) Uncache() Origin { return unknownOrigin }
