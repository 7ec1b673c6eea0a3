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

// Commit makes what was written the copy. Where another process has committed the same copy, Commit
// leases that one. After an error the writer must still be discarded.
func (w *Writer) Commit() (*Copy, error) {
	sums, err := w.finish()
	if err != nil {
		return nil, err
	}
	e := entry{key: w.key, size: sums.Size(), sum: sums.Sum64(), once: w.once}
	e.name = stagedName(e.key, e.size, e.sum, e.once)
	var fi fs.FileInfo
	// The account is locked, since a process that counts meanwhile could see neither name.
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

// finish makes the file what its name will say, and closes it.
func (w *Writer) finish() (*blocksum.Sums, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, err := w.file()
	if err != nil {
		return nil, err
	}
	sums, err := w.rec.Sums(w.size, f)
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

// place gives the file its name, and ends the writer. It does not replace a copy of that name, which
// other processes may be reading: that one is used, and read by the sums of what was written here.
// The account is locked.
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
	c.unlock(w.temp)
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

// end removes what is left of the writer, and adds its own error to cause. c.mu is held.
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
	if !w.created {
		return cause
	}
	err := c.removeFile(w.temp)
	c.unlock(w.temp)
	switch {
	case err == nil:
		return cause
	case cause == nil:
		return err
	}
	return fmt.Errorf("%w; and %s stays behind: %w", cause, filepath.Join(c.dir, w.temp), err)
}

// A sound copy was written or read through by this cache: its state then, and the sums of its blocks.
type sound struct {
	info fs.FileInfo
	sums *blocksum.Sums
}

// same reports whether no process has written to a file since it was looked at.
func same(before, now fs.FileInfo) bool {
	return os.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
}

// check reads a copy through unless this cache has written or read it before, and removes one that
// is not what its name says. The caller has a lease on it.
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
	if err := c.removeFile(e.name); err != nil { // other users of it had better fail, too
		return sound{}, fmt.Errorf("%w, and cannot be removed: %w", damaged, err)
	}
	return sound{}, damaged
}
