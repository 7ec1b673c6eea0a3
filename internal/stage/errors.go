package stage

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/ffconvert/ffconvert/internal/cache"
	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

// Kinds of failure, in addition to the kinds of package input.
var (
	ErrTruncated   = place.New(place.Refused, "truncated")
	ErrCompression = place.New(place.Refused, "a compression that is not supported")
	ErrRatio       = place.New(place.Refused, "decompresses suspiciously well")
	ErrQuota       = cache.ErrQuota
	// ErrCopy means that a staged copy has other bytes than were written to it: the device or the
	// memory is faulty, or another process has changed the file.
	ErrCopy = checksum.ErrChanged
)

// cacheError adds the source, the cache directory and a hint to an error of staging a copy.
func cacheError(name, dir string, err error) error {
	if _, placed := errors.AsType[*place.Error](err); placed {
		return err
	}
	e := place.IOError(name, err)
	switch {
	case errors.Is(err, ErrQuota):
		e.Err = fmt.Errorf("%w, in %s", err, text.Name(dir))
		e.Hint = "raise option cache-size, or convert fewer shards at once with option jobs"
	case errors.Is(err, ErrCopy):
		e.Err = copyError(dir, err)
	case errors.Is(err, cache.ErrChanged):
		e.Err = fmt.Errorf("%w: in %s: %w", input.ErrChanged, text.Name(dir), err)
		e.Hint = "give it an option cache-dir of its own"
	default:
		e.Err = fmt.Errorf("stage in %s: %w", text.Name(dir), e.Err)
		e.Hint = otherCache
	}
	return e
}

// otherCache is the hint for a directory that cannot hold the copies.
const otherCache = "see to the directory, or name another option cache-dir"

// sourceError is [place.IOError] for a file that existed when [input.Find] listed it.
func sourceError(name string, err error) *place.Error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return place.Refuse(name, input.ErrNotFound, "it was there a moment ago", "")
	}
	return place.IOError(name, err)
}
