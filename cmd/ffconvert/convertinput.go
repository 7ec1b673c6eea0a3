package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard"
)

// staged makes the inputs local files while use uses them. The cache inside the output is
// removed, unless the run was interrupted and another one can use it, or the writing has
// failed.
func (c *conversion) staged(ctx context.Context, found []input.Name, in input.Options, progress *reporter, use func(*input.Set) error) error {
	if err := c.refuseCache(); err != nil {
		return err
	}
	in.Progress = progress.staging(found)
	set, err := c.stage(ctx, found, in)
	if err == nil {
		err = use(set)
		err = errors.Join(err, set.Cleanup())
	}
	if _, unfinished := errors.AsType[*shard.Unfinished](err); unfinished || errors.Is(err, dataset.ErrMoved) {
		return err
	}
	return c.tidy(ctx, err)
}

// refuseCache refuses what is in the place of the cache inside the output.
func (c *conversion) refuseCache() error {
	if c.opts.cacheDir != "" || c.output == nil {
		return nil
	}
	return c.output.CheckCache()
}

// tidy removes the cache inside the output, unless the run was interrupted and another one
// can use it. Where the user has named another cache, one that a run before has left there is
// removed once the dataset is complete. It adds its own error to err.
func (c *conversion) tidy(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, shard.ErrDrained) || errors.Is(err, dataset.ErrMoved) || c.opts.cacheDir != "" && (err != nil || isInside(c.opts.cacheDir, c.ownCache())) {
		return err
	}
	return errors.Join(err, c.output.RemoveCache())
}

// ownCache is the path of the cache inside the output, which is that of one process where several write.
func (c *conversion) ownCache() string {
	if c.output != nil {
		return c.output.Cache()
	}
	return filepath.Join(c.out, dataset.CacheName)
}

func (c *conversion) inputOptions() input.Options {
	in := input.Options{
		Directories: c.format.directories,
		Match:       c.format.isPart,
		CacheDir:    c.opts.cacheDir,
		Workers:     c.opts.workers,
	}
	c.opts.limit(&in)
	if a, ok := c.data.(arranger); ok {
		in.Arrange = a.arrange
	}
	if in.CacheDir == "" {
		in.CacheDir = c.ownCache()
	}
	return in
}

// find finds the inputs: what the names name, or what the command will write.
func (c *conversion) find(ctx context.Context, in input.Options) ([]input.Name, error) {
	if c.command != nil {
		return []input.Name{input.FromCommand(*c.command)}, nil
	}
	if c.mix != nil {
		return c.mix.find(ctx, in)
	}
	return input.Find(ctx, c.names, in)
}

// directories returns those of the inputs that are directories.
func (c *conversion) directories(found []input.Name) []input.Name {
	switch {
	case c.mix != nil:
		return c.mix.directories(found)
	case c.format.directories:
		return found
	}
	return nil
}

// stage makes the inputs local files.
func (c *conversion) stage(ctx context.Context, found []input.Name, in input.Options) (*input.Set, error) {
	if c.mix != nil {
		return c.mix.stage(ctx, found, in)
	}
	return input.Open(ctx, found, in)
}

// source opens what was staged.
func (c *conversion) source(ctx context.Context, set *input.Set) (converters.Source, error) {
	return c.data.open(ctx, partsOf(set), c.opts.encode)
}

func partsOf(set *input.Set) []converters.Part {
	parts := make([]converters.Part, len(set.Files))
	for i, f := range set.Files {
		parts[i] = converters.Part{Name: f.Name, Path: f.Path, Size: f.Size, ModTime: f.ModTime}
		if f.Staged {
			parts[i].Copy = &converters.Copy{Mark: f.Mark, Content: f.Content, Sums: f.Sums, Files: f.Files}
		}
	}
	return parts
}

// temporaryCache makes a directory for what is staged, and returns what removes it. Where there is
// no place for one, as in an image without /tmp, that is an error once something must be staged.
func temporaryCache(in *input.Options) (remove func() error) {
	dir, err := os.MkdirTemp("", "ffconvert-*")
	if err != nil {
		in.NoCache = fmt.Errorf("no place for copies of compressed or remote inputs: %v (name a directory that can be written to with --cache-dir)", err)
		return func() error { return nil }
	}
	in.CacheDir = dir
	return func() error { return os.RemoveAll(dir) }
}
