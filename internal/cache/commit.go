package cache

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/internal/blocking"
	"github.com/ffconvert/ffconvert/internal/blocksum"
)

// Commit gives the written file its name, as a copy that is leased. If another process has committed
// the same copy meanwhile, Commit leases that one. After an error the writer must still be discarded.
func (w *Writer) Commit() (*Copy, error) {
	sums, err := w.finish()
	if err != nil {
		return nil, err
	}
	e := entry{key: w.key, size: sums.Size(), sum: sums.Sum64(), once: w.once}
	e.name = stagedName(e.key, e.size, e.sum, e.once)
	var fi fs.FileInfo
	// The account is locked, since a process that lists the directory meanwhile could see neither name.
	err = w.l.c.accounted(w.l.ctx, func() error {
		if err := w.l.use(e.name); err != nil {
			return err
		}
		fi, err = w.place(&e, sums)
		w.l.c.freed()
		return err
	})
	if err != nil {
		return nil, err
	}
	return w.l.c.copyOf(&e, sound{fi, sums}), nil
}

// finish cuts the file to the size written, and closes it.
func (w *Writer) finish() (*blocksum.Sums, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, sums, err := w.sums()
	if err != nil {
		return nil, err
	}
	if err := w.resize(f, w.size); err != nil {
		return nil, err
	}
	if err := w.l.c.injected("close"); err != nil {
		return nil, err
	}
	w.f = nil
	return sums, f.Close()
}

// place renames the file and ends the writer. It does not replace a copy of that name, which other
// processes may be reading: that copy is used in its place, and readers compare it with the checksums
// computed here. The account is locked.
func (w *Writer) place(e *entry, sums *blocksum.Sums) (fi fs.FileInfo, err error) {
	c := w.l.c
	if e.info, err = c.root.Lstat(e.name); err == nil && e.whole() {
		return e.info, w.end(nil)
	}
	if err := c.injected("rename"); err != nil {
		return nil, err
	}
	if fi, err = c.root.Lstat(w.temp); err != nil {
		return nil, err
	}
	if fi.Size() != e.size || !trusted(fi) {
		return nil, fmt.Errorf("%w: the copy has %d bytes, not the %d written to it", ErrChanged, fi.Size(), e.size)
	}
	if err := c.root.Rename(w.temp, e.name); err != nil {
		return nil, err
	}
	w.created = false
	c.sound[e.name] = sound{fi, sums}
	return fi, w.end(nil)
}

// Discard ends the writer and removes its file because of cause, which it returns together with an
// error of its own. Once the writer has ended it does nothing.
func (w *Writer) Discard(cause error) error {
	w.l.removeTrees(w)
	w.l.c.mu.Lock()
	defer w.l.c.mu.Unlock()
	if !w.l.open[w] {
		return cause
	}
	err := w.end(cause)
	w.l.c.freed()
	return err
}

// end closes and removes the writer's file, and adds its own error to cause. c.mu is held.
func (w *Writer) end(cause error) error {
	l, c := w.l, w.l.c
	delete(l.open, w)
	delete(c.writing, w.key)
	delete(c.writing, w.temp)
	if len(l.open) == 0 {
		l.spare = 0
	}
	if w.f != nil {
		w.f.Close()
	}
	defer c.unlock(w.temp)
	if !w.created {
		return cause
	}
	err := c.removeFile(w.temp)
	switch {
	case err == nil:
		return cause
	case cause == nil:
		return err
	}
	return fmt.Errorf("%w; and %s stays behind: %w", cause, filepath.Join(c.dir, w.temp), err)
}

// sound is a copy that this cache has written, or has compared with its digest: the state of the file
// then, and the checksums of its blocks.
type sound struct {
	info fs.FileInfo
	sums *blocksum.Sums
}

// same reports whether a file has its identity, size and time of before.
func same(before, now fs.FileInfo) bool {
	return os.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
}

// check compares a copy with the digest in its name, unless this cache has written or compared it
// before, and removes a copy that differs. The caller has a lease on it.
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
	if err := c.removeFile(e.name); err != nil { // all other users of it fail, too
		return sound{}, fmt.Errorf("%w, and cannot be removed: %w", damaged, err)
	}
	return sound{}, damaged
}
