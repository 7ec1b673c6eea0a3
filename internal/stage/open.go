package stage

import (
	"cmp"
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
	places := make([]int, len(found))
	for i := range places {
		places[i] = i
	}
	set, err := s.Take(ctx, places)
	if err != nil {
		s.Close() // an error of its own would only hide the one that counts
		return nil, err
	}
	set.closes = true
	return set, nil
}

// A Set is what [Open] or [Stager.Take] made local. Its copies stay until it is released. They are not
// open.
type Set struct {
	// Parts are local files, in the order of the names; Copy is set if Path is a copy in the cache
	// directory. Of a directory a part has the Name, the Path and the Copy alone.
	Parts []converters.Part

	stager *Stager
	closes bool           // the stager serves this set alone, and is closed with it
	staged bool           // the stager counts it
	leases []*cache.Lease // on the copies
}

// Release ends the use of the copies: from now on they may be evicted, and if the set is from [Open],
// copies that no later run can use are removed. It may be called again; of a nil Set it does nothing.
func (s *Set) Release() error { return s.end((*cache.Lease).Release) }

// Remove is Release of a set whose copies are not needed again: it removes those that no other set has.
func (s *Set) Remove() error { return s.end((*cache.Lease).Remove) }

func (s *Set) end(lease func(*cache.Lease) error) error {
	if s == nil {
		return nil
	}
	var all []error
	for _, l := range s.leases {
		if err := lease(l); err != nil {
			all = append(all, place.IOError(s.stager.cache.Dir(), err))
		}
	}
	s.leases = nil
	if s.staged {
		s.staged = false
		s.stager.left()
	}
	if s.closes {
		all = append(all, s.stager.Close())
	}
	return errors.Join(all...)
}

// inspect looks at the files that the names lead to, and returns their compressions.
func (s *Set) inspect(ctx context.Context, found []input.Name, opts Options) ([]string, error) {
	compressions := make([]string, len(found))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(opts.Workers)
	for i, n := range found {
		if s.Parts[i].Name = n.Name; n.Path == "" {
			continue
		}
		if n.Directory {
			s.Parts[i].Path = n.Path
			continue
		}
		if gctx.Err() != nil {
			break
		}
		g.Go(func() (err error) {
			s.Parts[i] = converters.Part{Name: n.Name, Path: n.Path, Size: n.Size, ModTime: n.ModTime}
			compressions[i], err = inspectFile(n)
			return err
		})
	}
	return compressions, cmp.Or(g.Wait(), context.Cause(ctx))
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
