package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/ffconvert/ffconvert/internal/blocksum"
)

// Commit makes what was written the copy. Where the same copy stands there by now, from another
// process, that one is taken instead. After an error the draft must still be discarded.
func (d *Draft) Commit() (*Copy, error) {
	sums, err := d.finish()
	if err != nil {
		return nil, err
	}
	e := entry{key: d.key, size: sums.Size(), sum: sums.Sum64(), once: d.once}
	e.name = stagedName(e.key, e.size, e.sum, e.once)
	if err := d.claimName(e.name); err != nil {
		return nil, err
	}
	now, err := d.place(&e, sums)
	for errors.Is(err, errOvertaken) {
		now, err = d.place(&e, sums)
	}
	if err != nil {
		return nil, err
	}
	return d.h.c.copyOf(e.name, e.key, now), nil
}

// errOvertaken means that another process has committed the same copy in between.
var errOvertaken = errors.New("the copy stands there by now")

// place gives the copy its name, unless the same one has it already, and ends the draft.
func (d *Draft) place(e *entry, sums *blocksum.Sums) (sound, error) {
	c := d.h.c
	now, there, err := d.standing(e)
	if err != nil {
		return sound{}, err
	}
	// Somebody who counts meanwhile could see neither the old name nor the new one.
	err = c.accounted(d.h.ctx, func() error {
		if !there {
			fi, err := d.rename(e)
			if err != nil {
				return err
			}
			now = sound{fi, sums}
			c.sound[e.name] = now
		}
		err := d.end(nil)
		c.tell()
		return err
	})
	return now, err
}

// finish makes the file what its name will say, and closes it.
func (d *Draft) finish() (*blocksum.Sums, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.file()
	if err != nil {
		return nil, err
	}
	sums, err := d.rec.Sums(d.size, f)
	if err != nil {
		return nil, err
	}
	if d.reserved != d.size {
		if err := d.truncate(f, d.size); err != nil {
			return nil, err
		}
		d.reserved = d.size
	}
	if err := d.h.c.injected("close"); err != nil {
		return nil, err
	}
	d.f = nil
	return sums, f.Close()
}

// claimName has the copy's name, which an evictor may have for a moment.
func (d *Draft) claimName(name string) error {
	for {
		d.h.c.mu.Lock()
		ok := d.h.take(name)
		d.h.c.mu.Unlock()
		if ok {
			return nil
		}
		if err := d.h.ctx.Err(); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// standing returns what has the copy's name already, if it is sound: others may be reading it,
// so it must not be replaced.
func (d *Draft) standing(e *entry) (now sound, there bool, err error) {
	if e.info, err = d.h.c.root.Lstat(e.name); errors.Is(err, fs.ErrNotExist) {
		return sound{}, false, nil
	}
	if err != nil || !e.whole() {
		return sound{}, false, err
	}
	now, err = d.h.c.check(d.h.ctx, e)
	if errors.Is(err, ErrDamaged) || errors.Is(err, fs.ErrNotExist) {
		return sound{}, false, nil
	}
	return now, err == nil, err
}

// rename gives the copy its name. The account is held, so that nobody else does at once.
func (d *Draft) rename(e *entry) (fs.FileInfo, error) {
	c := d.h.c
	if now, err := c.root.Lstat(e.name); err == nil {
		if e.info = now; e.whole() {
			return nil, errOvertaken
		}
	}
	if err := c.injected("rename"); err != nil {
		return nil, err
	}
	fi, err := c.root.Lstat(d.temp)
	if err != nil {
		return nil, err
	}
	if fi.Size() != e.size || !trusted(fi) {
		return nil, fmt.Errorf("%w: the copy has %d bytes, not the %d written to it", ErrChanged, fi.Size(), e.size)
	}
	if err := c.root.Rename(d.temp, e.name); err != nil {
		return nil, err
	}
	d.created = false
	c.unclaim(d.temp)
	return fi, nil
}

// Discard removes the draft because of cause, which it returns, with its own failure: what stays
// behind must be known. Of a draft that has ended there is nothing to discard.
func (d *Draft) Discard(cause error) error {
	d.h.removeTrees(d)
	d.h.c.mu.Lock()
	defer d.h.c.mu.Unlock()
	if !d.h.open[d] {
		return cause
	}
	err := d.end(cause)
	d.h.c.tell()
	return err
}

// end removes what is left of the draft, and adds its own failure to cause. c.mu is held.
func (d *Draft) end(cause error) error {
	h, c := d.h, d.h.c
	delete(h.open, d)
	delete(c.making, d.key)
	delete(c.temps, d.temp)
	if d.primary {
		h.work--
		h.rest(d, false)
	}
	if d.f != nil {
		d.f.Close()
	}
	if !d.created {
		return cause
	}
	err := c.removeFile(d.temp)
	c.unclaim(d.temp)
	switch {
	case err == nil:
		return cause
	case cause == nil:
		return err
	}
	return fmt.Errorf("%w; and %s stays behind: %w", cause, filepath.Join(c.dir, d.temp), err)
}
