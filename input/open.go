package input

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Open makes every found name a local, seekable, uncompressed file. One that is all
// of that already is used in place; others are staged, opts.Workers at once, or taken
// from the cache where a complete copy stands. Every file must still have the size
// and modification time that [Find] saw. With opts.Directories names that have a path
// are directories, and are handed on unopened.
//
// The output of a command is taken as it is, compressed or not, once the command has
// closed it and exited with status 0; anything else is [ErrCommand]. A command that must
// stop gets SIGTERM, its process group with it, and five seconds later SIGKILL.
//
// After an error nothing half done is left and no command runs. Complete copies stay, so
// that the next run need not make them again; copies of standard input and of what
// commands wrote do not. When ctx is cancelled its cause is returned.
func Open(ctx context.Context, found []Name, opts Options) (*Set, error) {
	set := &Set{Files: make([]File, len(found))}
	for i, n := range found {
		set.Files[i].Name = n.Name
	}
	if err := set.inspect(ctx, found, opts); err != nil {
		return nil, err
	}
	jobs, err := set.plan(found)
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return set, nil
	}
	c, err := openCache(opts.CacheDir, opts.Quota, opts.fault)
	if err != nil {
		return nil, err
	}
	set.dir = c.dir
	err = set.stage(ctx, c, jobs, opts)
	if err != nil {
		for _, j := range jobs {
			if j.source.once() && j.made {
				err = c.remove(j.copied, err)
			}
		}
	}
	if cerr := c.close(); err == nil && cerr != nil {
		err = ioError(c.dir, cerr)
	}
	if err != nil {
		removeEmpty(c.dir) // an error of its own would only hide the one that counts
		return nil, err
	}
	return set, nil
}

// inspect fills in what the files themselves say.
func (s *Set) inspect(ctx context.Context, found []Name, opts Options) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(opts.workers())
	for i, n := range found {
		if n.once() {
			continue
		}
		if opts.Directories {
			s.Files[i].Path = n.Path
			continue
		}
		if gctx.Err() != nil {
			break
		}
		g.Go(func() error {
			compression, err := inspectFile(n)
			s.Files[i] = File{Name: n.Name, Path: n.Path, Size: n.Size, ModTime: n.ModTime, Compression: compression, SourceSize: n.Size}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

func inspectFile(n Name) (compression string, err error) {
	f, err := openSource(n.Path)
	if err != nil {
		return "", sourceError(n.Name, err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return "", ioError(n.Name, err)
	}
	if !fi.Mode().IsRegular() {
		return "", notRegular(n.Name, fi.Mode())
	}
	if err := unchanged(n, fi); err != nil {
		return "", err
	}
	head := make([]byte, min(sniffLen, fi.Size()))
	if _, err := io.ReadFull(f, head); err == io.EOF || err == io.ErrUnexpectedEOF {
		return "", refuse(n.Name, ErrChanged, "", "it has become shorter")
	} else if err != nil {
		return "", ioError(n.Name, err)
	}
	compression, err = sniff(head)
	if err != nil {
		return "", &Error{Name: n.Name, Off: fi.Size(), Err: err, Hint: "the copy is incomplete: fetch it again"}
	}
	return compression, nil
}

// A job is one source to be staged, and the files of the set that wait for it: more
// than one where a source is named more than once.
type job struct {
	source      Name
	compression string
	id          string
	files       []int

	copied string // name of the copy in the cache
	made   bool   // by this run
}

// plan lists what must be staged, each source once, in order of first mention.
func (s *Set) plan(found []Name) ([]*job, error) {
	var jobs []*job
	byID := map[string]*job{}
	for i, n := range found {
		compression := s.Files[i].Compression
		id := ""
		switch {
		case n.once():
			id = anonymous()
		case compression == "":
			continue
		default:
			var err error
			if id, err = identity(n); err != nil {
				return nil, ioError(n.Name, err)
			}
		}
		j := byID[id]
		if j == nil {
			j = &job{source: n, compression: compression, id: id}
			byID[id] = j
			jobs = append(jobs, j)
		}
		j.files = append(j.files, i)
	}
	return jobs, nil
}

func (s *Set) stage(ctx context.Context, c *cache, jobs []*job, opts Options) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(opts.workers())
	for _, j := range jobs {
		if gctx.Err() != nil {
			break
		}
		g.Go(func() error {
			file, err := j.run(gctx, c, opts)
			if err != nil {
				return err
			}
			for _, i := range j.files {
				file.Name = s.Files[i].Name // one source may have two
				file.Mark = j.source.mark()
				s.Files[i] = file
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, j := range jobs {
		if j.source.once() {
			s.once = append(s.once, j.copied)
		}
	}
	return context.Cause(ctx)
}

// Cleanup removes what no later run can use: the copies of standard input and of what
// commands wrote. Other copies stay in the cache. It may be called again.
func (s *Set) Cleanup() error {
	if len(s.once) == 0 {
		return nil
	}
	c, err := os.OpenRoot(s.dir)
	if err != nil {
		return ioError(s.dir, err)
	}
	defer c.Close()
	var failed error
	s.once = slices.DeleteFunc(s.once, func(name string) bool {
		err := c.Remove(name)
		if err == nil || isMissing(err) {
			return true
		}
		failed = ioError(filepath.Join(s.dir, name), err)
		return false
	})
	if failed != nil {
		return failed
	}
	if err := removeEmpty(s.dir); err != nil {
		return ioError(s.dir, err)
	}
	return nil
}
