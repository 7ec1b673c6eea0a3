//go:build !linux && !darwin

package cache

import "io/fs"

func trusted(fi fs.FileInfo) bool { return fi.Mode().IsRegular() }
