package stage

import (
	"context"
	"errors"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/blocking"
	"github.com/ffconvert/ffconvert/internal/cache"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
)

// Open makes every found name a local, seekable, uncompressed file: it is a [Stager.Take] of all
// of them. Where the copies of all together are more than the quota it is [ErrQuota].
//
// After an error nothing half done is left and no command runs. Complete copies stay, so
// that the next run need not make them again; copies of standard input and of what
// commands wrote do not. When ctx is cancelled its cause is returned.
func Open(ctx context.Context, found []input.Name, opts Options) (*Set, error) {
	s, err := NewStager(found, opts)
	if err != nil {
		return nil, err
	}
	set, err := s.Take(ctx, 0, len(found))
	if err != nil {
		s.Close() // an error of its own would only hide the one that counts
		return nil, err
	}
	set.stager = s
	return set, nil
}

// A Set is what [Open] or [Stager.Take] made ready. Its copies stay until it is released, as long as
// something refers to it. They are not open.
type Set struct {
	Files []File // in the order of the names

	dir    string       // of the cache
	lease  *cache.Lease // on the copies; nil: there are none
	stager *Stager      // that serves this set alone, and is closed with it; else nil
}

// Parts returns the files as parts of a dataset, in the order of the names.
func (s *Set) Parts() []converters.Part {
	parts := make([]converters.Part, len(s.Files))
	for i := range s.Files {
		parts[i] = s.Files[i].Part
	}
	return parts
}

// Release ends the use of the copies: from now on they may be evicted, and if the set is from [Open],
// copies that no later run can use are removed. It may be called again.
func (s *Set) Release() error {
	var err error
	if s.lease != nil {
		if err = s.lease.Release(); err != nil {
			err = place.IOError(s.dir, err)
		}
	}
	if s.stager != nil {
		err = errors.Join(err, s.stager.Close())
	}
	return err
}

// Keep says that the caller takes other sets before it releases this one, so that none of them
// waits for its room: where they need that, they are [ErrQuota].
func (s *Set) Keep() {
	if s.lease != nil {
		s.lease.Keep()
	}
}

// inspect fills in what the files themselves say.
func (s *Set) inspect(ctx context.Context, found []input.Name, opts Options) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(opts.workers())
	for i, n := range found {
		if s.Files[i].Name = n.Name; n.Path == "" {
			continue
		}
		if n.Directory {
			s.Files[i].Path = n.Path
			continue
		}
		if gctx.Err() != nil {
			break
		}
		g.Go(func() error {
			compression, err := inspectFile(n)
			s.Files[i] = File{converters.Part{Name: n.Name, Path: n.Path, Size: n.Size, ModTime: n.ModTime}, compression, n.Size}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

func inspectFile(n input.Name) (compression string, err error) {
	f, err := blocking.Open(n.Path)
	if err != nil {
		return "", sourceError(n.Name, err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return "", place.IOError(n.Name, err)
	}
	if !fi.Mode().IsRegular() {
		return "", input.NotRegular(n.Name, fi.Mode())
	}
	if err := unchanged(n, fi); err != nil {
		return "", err
	}
	aio.ReadAhead(f, false)
	head := make([]byte, min(sniffLen, fi.Size()))
	if _, err := io.ReadFull(f, head); err == io.EOF || err == io.ErrUnexpectedEOF {
		return "", place.Refuse(n.Name, input.ErrChanged, "", "it has become shorter")
	} else if err != nil {
		return "", place.IOError(n.Name, err)
	}
	compression, err = sniff(head)
	if err != nil {
		return "", sniffError(n.Name, fi.Size(), err, "the copy is incomplete: fetch it again")
	}
	return compression, nil
}
