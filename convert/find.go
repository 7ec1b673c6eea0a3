package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/input/stage"
	"github.com/ffconvert/ffconvert/shard"
)

// InputOptions returns in with what the format says of its inputs.
func (r *Reader) InputOptions(in input.Options) input.Options {
	in.Directories, in.Match, in.Arrange = r.Directories, r.Match, nil
	in.AllowPipe = in.AllowPipe && !r.Directories // no program writes a directory
	if a, ok := r.Opener.(Arranger); ok {
		in.Arrange = a.Arrange
	}
	return in
}

// inputOptions are those of the conversion.
func (c *Conversion) inputOptions() stage.Options {
	in := c.Input
	if c.Reader != nil {
		in.Options = c.Reader.InputOptions(in.Options)
	}
	if in.Workers == 0 {
		in.Workers = c.Workers
	}
	if in.CacheDir == "" {
		in.CacheDir = c.ownCache()
	}
	return in
}

// find finds the inputs: what the names name, or what the program will write.
func (c *Conversion) find(ctx context.Context) (err error) {
	switch {
	case c.Program != nil:
		c.found = []input.Name{input.FromCommand(*c.Program)}
	case c.Mixture != nil:
		c.found, err = c.Mixture.find(ctx, c.inputOptions().Options)
	default:
		c.found, err = input.Find(ctx, c.Sources, c.inputOptions().Options)
	}
	return err
}

// directories returns those of the inputs that are directories.
func (c *Conversion) directories() []input.Name {
	switch {
	case c.Mixture != nil:
		return c.Mixture.directories(c.found)
	case c.Reader.Directories:
		return c.found
	}
	return nil
}

// stage makes the inputs local files.
func (c *Conversion) stage(ctx context.Context, found []input.Name, in stage.Options) (*stage.Set, error) {
	if c.Mixture != nil {
		return c.Mixture.stage(ctx, found, in)
	}
	return stage.Open(ctx, found, in)
}

// staged makes the inputs local files while use uses them. The cache inside the output is
// removed, unless the run was interrupted and another one can use it, or the writing has
// failed.
func (c *Conversion) staged(ctx context.Context, use func(*stage.Set) error) error {
	if err := c.checkCache(); err != nil {
		return err
	}
	in := c.inputOptions()
	in.Progress = c.staging(c.found)
	set, err := c.stage(ctx, c.found, in)
	if err == nil {
		err = use(set)
		err = errors.Join(err, set.Cleanup())
	}
	if _, unfinished := errors.AsType[*shard.Unfinished](err); unfinished || errors.Is(err, dataset.ErrMoved) {
		return err
	}
	return c.removeCache(ctx, err)
}

// checkCache refuses what is in the place of the cache inside the output.
func (c *Conversion) checkCache() error {
	if c.Input.CacheDir != "" || c.output == nil {
		return nil
	}
	return c.output.CheckCache()
}

// removeCache removes the cache inside the output, unless the run was interrupted and another
// one can use it. Where the caller has named another cache, one that a run before has left there
// is removed once the dataset is complete. It adds its own error to err.
func (c *Conversion) removeCache(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, shard.ErrDrained) || errors.Is(err, dataset.ErrMoved) || c.Input.CacheDir != "" && (err != nil || isInside(c.Input.CacheDir, c.ownCache())) {
		return err
	}
	return errors.Join(err, c.output.RemoveCache())
}

// ownCache is the path of the cache inside the output, which is that of one process where several write.
func (c *Conversion) ownCache() string {
	if c.output != nil {
		return c.output.Cache()
	}
	return filepath.Join(c.Out, dataset.CacheName)
}

// TemporaryCache makes a directory for what is staged, and returns what removes it. Where there is
// no place for one, as in an image without /tmp, that is an error once something must be staged.
func TemporaryCache(in *stage.Options) (remove func() error) {
	dir, err := os.MkdirTemp("", "ffconvert-*")
	if err != nil {
		in.NoCache = advise(DirectoryForCache, fmt.Errorf("no place for copies of compressed or remote inputs: %v", err))
		return func() error { return nil }
	}
	in.CacheDir = dir
	return func() error { return os.RemoveAll(dir) }
}
