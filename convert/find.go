package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// inputOptions returns Input with the defaults of the conversion.
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
	in.Note = func(name, found string) { c.notes = append(c.notes, [2]string{name, found}) }
	return in
}

// find finds the inputs: the files that Sources name, or the output of Program.
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

// A collection is the inputs of one format: a mixture has several, another dataset one.
type collection struct {
	*format.Reader
	first, n int // index of its first input, and how many it has
}

func (c *Conversion) collections() []collection {
	if c.Mixture == nil {
		return []collection{{c.Reader, 0, len(c.found)}}
	}
	var all []collection
	first := 0
	for i, n := range c.Mixture.found {
		all = append(all, collection{c.Mixture.readers[i], first, n})
		first += n
	}
	return all
}

// directories returns the inputs that are directories.
func (c *Conversion) directories() []input.Name {
	var dirs []input.Name
	for _, of := range c.collections() {
		if of.Directories {
			dirs = append(dirs, c.found[of.first:of.first+of.n]...)
		}
	}
	return dirs
}

// stage makes the inputs local files.
func (c *Conversion) stage(ctx context.Context, found []input.Name, in stage.Options) (*stage.Set, error) {
	if c.Mixture != nil {
		return c.Mixture.stage(ctx, found, in)
	}
	return stage.Open(ctx, found, in)
}

// staged makes all inputs local files and calls use. Then it removes the cache in the output, unless
// the run was interrupted and another run can use it, or shards are missing.
func (c *Conversion) staged(ctx context.Context, use func(*stage.Set) error) error {
	if err := c.checkCache(); err != nil {
		return err
	}
	in := c.inputOptions()
	in.Progress = c.staging(c.wanted())
	set, err := c.stage(ctx, c.wanted(), in)
	var cleaned, removed error
	if err == nil {
		err = use(set)
		cleaned = errors.Join(c.endFilter(), set.Release())
	}
	if _, unfinished := errors.AsType[*shard.Unfinished](err); !unfinished {
		removed = c.removeCache(ctx, err)
	}
	return errors.Join(err, cleaned, removed)
}

// checkCache returns an error if the cache would be in the output and its path is taken.
func (c *Conversion) checkCache() error {
	if c.Input.CacheDir != "" || c.output == nil {
		return nil
	}
	return c.output.CheckCache()
}

// removeCache removes the cache in the output, unless the run was interrupted and another run can use
// it. If the caller names another cache, the one in the output is of an earlier run, and is removed
// only after success. err is the error of the run.
func (c *Conversion) removeCache(ctx context.Context, err error) error {
	return errors.Join(c.returnBeside(), c.endFilter(), c.removeOwnCache(ctx, err))
}

func (c *Conversion) removeOwnCache(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, shard.ErrDrained) || errors.Is(err, dataset.ErrMoved) || c.Input.CacheDir != "" && (err != nil || isInside(c.Input.CacheDir, c.ownCache())) {
		return nil
	}
	return c.output.RemoveCache()
}

// ownCache returns the path of the cache in the output. If several processes write there, each has its own.
func (c *Conversion) ownCache() string {
	if c.output != nil {
		return c.output.Cache()
	}
	if IsURL(c.Out) {
		return "" // until its scratch is open
	}
	return filepath.Join(c.Out, dataset.CacheName)
}

// TemporaryCache makes a directory for staged copies, and returns a function that removes it. If it
// cannot be made, as in an image without /tmp, staging fails later, if anything must be staged.
func TemporaryCache(in *stage.Options) (remove func() error) {
	dir, err := os.MkdirTemp("", "ffconvert-*")
	if err != nil {
		in.NoCache = advise(DirectoryForCache, fmt.Errorf("no place for copies of compressed or remote inputs: %v", err))
		return func() error { return nil }
	}
	in.CacheDir = dir
	return func() error { return os.RemoveAll(dir) }
}

// Staging returns a function for input.Options.Progress. It starts the phase with the first staged
// byte, since most inputs need no staging. The total is 0 if a size is unknown.
func Staging(p plan.Progress, found []input.Name) func(string, int64) {
	if p == nil {
		return nil
	}
	total := int64(0)
	for _, n := range found {
		total += n.Size
		if n.Size < 0 {
			total = 0
			break
		}
	}
	var begin sync.Once
	return func(_ string, n int64) {
		begin.Do(func() { p.Start("stage", total) })
		p.Add(0, n)
	}
}

func (o *Options) staging(found []input.Name) func(string, int64) { return Staging(o.Progress, found) }

// fetching returns a function that counts the bytes fetched while shards are written.
func (o *Options) fetching() func(string, int64) {
	switch p := o.Progress.(type) {
	case nil:
		return nil
	case interface{ Fetched(bytes int64) }:
		return func(_ string, n int64) { p.Fetched(n) }
	}
	return func(_ string, n int64) { o.Progress.Add(0, n) }
}
