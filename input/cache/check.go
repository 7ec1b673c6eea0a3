package cache

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/ffconvert/ffconvert/internal/blocking"
	"github.com/ffconvert/ffconvert/internal/blocksum"
)

// A sound copy was written or read through by this cache: its state then, and the sums of its blocks.
type sound struct {
	info fs.FileInfo
	sums *blocksum.Sums
}

// check reads a copy through unless this cache has written or read it before. One that is not
// what its name says is removed. Somebody here holds it.
func (c *Cache) check(ctx context.Context, e *entry) (sound, error) {
	f, err := blocking.File(c.root.Open(e.name))
	if err != nil {
		return sound{}, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return sound{}, err
	}
	c.mu.Lock()
	known, ok := c.sound[e.name]
	c.mu.Unlock()
	if ok && same(known.info, fi) {
		return known, nil
	}
	if err := c.injected("check"); err != nil {
		return sound{}, err
	}
	sums, err := blocksum.Of(ctx, f)
	if err != nil {
		return sound{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if sums.Size() == e.size && sums.Sum64() == e.sum && trusted(fi) {
		c.sound[e.name] = sound{fi, sums}
		return c.sound[e.name], nil
	}
	damaged := fmt.Errorf("%w: %s", ErrDamaged, e.name)
	if err := c.removeFile(e.name); err != nil { // whoever else uses it had better fail, too
		return sound{}, fmt.Errorf("%w, and cannot be removed: %w", damaged, err)
	}
	return sound{}, damaged
}

// same tells that nobody has written to a file since it was looked at.
func same(before, now fs.FileInfo) bool {
	return os.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
}
