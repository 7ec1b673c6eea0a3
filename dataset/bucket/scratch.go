package bucket

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/semaphore"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/place"
)

// DefaultSize is the default of Options.Size, in bytes.
const DefaultSize = 16 << 30

// ErrScratch means that the scratch is smaller than a file that must be stored there.
var ErrScratch = place.New(place.Usage, "the scratch is too small")

// A scratch limits the bytes of local files that are being uploaded or were downloaded.
type scratch struct {
	dir  string
	size int64 // bytes
	room *semaphore.Weighted

	spare   func()       // removes what can be downloaded again; nil: there is no such thing
	waiting atomic.Int64 // calls of Room that have called spare
}

// NewScratch returns a scratch with o.Scratch and o.Size. It makes no directory.
func (o *Options) NewScratch() *scratch {
	size := cmp.Or(o.Size, DefaultSize)
	return &scratch{dir: o.Scratch, size: size, room: semaphore.NewWeighted(size)}
}

// Room waits until there is room for a file of that many bytes, and reserves it until free is called.
func (s *scratch) Room(ctx context.Context, bytes int64) (free func(), err error) {
	if bytes > s.size {
		return nil, &place.Error{Where: "scratch", Off: -1, Hint: "raise option scratch-size, or make smaller shards",
			Err: fmt.Errorf("%w: it may have %s bytes, and a file of %s has to lie there", ErrScratch, humanize.Comma(s.size), humanize.Comma(bytes))}
	}
	if !s.room.TryAcquire(bytes) {
		s.waiting.Add(1)
		defer s.waiting.Add(-1)
		if s.spare != nil {
			s.spare()
		}
		if err := s.room.Acquire(ctx, bytes); err != nil {
			return nil, context.Cause(ctx)
		}
	}
	return func() { s.room.Release(bytes) }, nil
}

// File makes an unnamed file with room for that many bytes. done closes it and frees the room; the file is also gone
// after the process ends for any reason.
func (s *scratch) File(ctx context.Context, bytes int64) (f *os.File, done func(), err error) {
	free, err := s.Room(ctx, bytes)
	if err != nil {
		return nil, nil, err
	}
	if f, err = dataset.Unnamed(s.dir); err != nil {
		free()
		return nil, nil, err
	}
	return f, func() { f.Close(); free() }, nil
}
