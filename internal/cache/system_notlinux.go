//go:build !linux

package cache

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

type lockKind int

const (
	shared lockKind = iota
	exclusive
	unlocked
)

func setLock(*os.File, lockKind, int64) (bool, error) { return false, errors.ErrUnsupported }
func lockedByOthers(*os.File, int64) bool             { return false }
func accessed(fi fs.FileInfo) time.Time               { return fi.ModTime() }
func setLabel(*os.File, string)                       {}
func labelOf(*os.File) string                         { return "" }
