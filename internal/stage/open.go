package stage

import (
	"cmp"
	"context"
	"errors"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/cache"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
)

// Open makes every found name a local, seekable, uncompressed file, by one [Stager.Take] of all names.
// If the copies of all exceed the quota, the error is [ErrQuota].
//
// After an error no unfinished copy remains and no command runs. Complete copies stay for the next run, except
// copies of standard input and of the output of commands. If ctx is cancelled the error is its cause.
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
		s.Close() // ignore its error: err matters more
		return nil, err
	}
	set.closes = true
	return set, nil
}

// A Set has the local files that [Open] or [Stager.Take] made. Its copies stay until it is released. It holds no
// file open.
type Set struct {
	// Parts are local files, in the order of the names; Copy is set if Path is a copy in the cache
	// directory. For a directory only Name, Path and Copy are set.
	Parts []converters.Part

	stager *Stager
	closes bool           // the stager serves only this set, and is closed with it
	staged bool           // the stager counts the set in Stager.sets
	leases []*cache.Lease // on the copies
}

// Release ends the leases on the copies, which may then be evicted. If the set is from [Open], it also removes
// copies that no later run can use. It may be called again, and on a nil Set.
func (s *Set) Release() error { return s.end((*cache.Lease).Release) }

// Remove is Release, and also removes the copies that no other set uses.
func (s *Set) Remove() error { return s.end((*cache.Lease).Remove) }

func (s *Set) end(lease func(*cache.Lease) error) error {
	if s == nil {
		return nil
	}
	var all []error
	for _, l := range s.leases {
		if err := lease(l); err != nil {
			all = append(all, place.IOError(s.stager.cache.Dir, err))
		}
	}
	s.leases = nil
	if s.staged {
		s.staged = false
		s.stager.removeSet()
	}
	if s.closes {
		all = append(all, s.stager.Close())
	}
	return errors.Join(all...)
}

// inspect fills the parts of local files and directories, and returns the compression of each file.
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
	f, err := files.Open(n.Path)
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
