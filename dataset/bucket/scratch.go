package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/semaphore"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/place"
)

// DefaultSize is the default of Options.Size, in bytes.
const DefaultSize = 16 << 30

// ErrScratch says that the scratch is too small.
var ErrScratch = place.New(place.Usage, "the scratch is too small")

// A Scratch is where files lie on this machine on their way to an object store, or out of it.
type Scratch struct {
	dir  string
	size int64 // bytes
	room *semaphore.Weighted
}

// NewScratch returns the scratch of Options.Scratch and Options.Size. No directory is made before it is used.
func (o *Options) NewScratch() *Scratch {
	size := cmp.Or(o.Size, DefaultSize)
	return &Scratch{o.Scratch, size, semaphore.NewWeighted(size)}
}

// Room waits until there is room for a file of that many bytes, and keeps it until free is called.
func (s *Scratch) Room(ctx context.Context, bytes int64) (free func(), err error) {
	if bytes > s.size {
		return nil, &place.Error{Where: "scratch", Off: -1, Err: &place.OptionsError{
			Text: fmt.Sprintf("%v: it may have %s bytes, and a file of %s has to lie there", ErrScratch, humanize.Comma(s.size), humanize.Comma(bytes)), Err: ErrScratch}, Hint: "raise Options.Size, or make smaller shards"}
	}
	if err := s.room.Acquire(ctx, bytes); err != nil {
		return nil, context.Cause(ctx)
	}
	return func() { s.room.Release(bytes) }, nil
}

// File makes a file without a name for that many bytes, of which nothing is left after done, and after any end of the process.
func (s *Scratch) File(ctx context.Context, bytes int64) (f *os.File, done func(), err error) {
	dir, err := s.path()
	if err != nil {
		return nil, nil, err
	}
	free, err := s.Room(ctx, bytes)
	if err != nil {
		return nil, nil, err
	}
	if f, err = dataset.Unnamed(dir); err != nil {
		free()
		return nil, nil, err
	}
	return f, func() { f.Close(); free() }, nil
}

// path returns the directory that scratch directories are made in.
func (s *Scratch) path() (string, error) {
	if strings.Contains(s.dir, "://") {
		return "", &place.Error{Where: s.dir, Off: -1, Err: errors.New("a URL in the place of a local path"), Hint: "Options.Scratch is a directory on this machine", Kind: place.Usage}
	}
	if s.dir != "" {
		return s.dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", &place.Error{Where: "scratch", Off: -1, Err: err, Hint: "name a directory: Options.Scratch", Kind: place.Usage}
	}
	return filepath.Join(cache, "ffconvert", "scratch"), nil
}

// prefix begins the names of scratch directories.
const prefix = "ffconvert-"

// young is how long a directory is left alone that has no lock: its process may be about to take it.
const young = time.Minute

// removeStale removes the scratch directories of processes that were killed.
func removeStale(scratch string) error {
	entries, _ := os.ReadDir(scratch) // OpenScratch reports the error
	for _, e := range entries {
		st, err := e.Info()
		if err == nil && e.IsDir() && strings.HasPrefix(e.Name(), prefix) && time.Since(st.ModTime()) > young {
			if err := dataset.RemoveScratch(filepath.Join(scratch, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
