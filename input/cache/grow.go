package cache

import (
	"context"
	"errors"
)

// growth is the largest step by which a draft of unknown size grows, bytes: each step costs a
// look at the whole directory, and a step that is not used takes room from others meanwhile.
const growth = 16 << 20

// grow reserves size bytes in all, or more. It waits until somebody lets go of as much, unless
// nobody will without getting more first: [ErrQuota]. d.mu is held.
func (d *Draft) grow(ctx context.Context, size int64) error {
	c, h := d.h.c, d.h
	waits := false
	done := func() {
		if waits {
			waits = false
			h.growing--
			c.waiting--
			c.tell()
		}
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		done()
	}()
	for {
		var changed <-chan struct{}
		err := c.accounted(ctx, func() error {
			others := c.othersActive()
			err := d.tryGrow(size)
			short, ok := errors.AsType[*shortage](err)
			if !ok {
				done() // before somebody else counts, and sees nobody at work
				return err
			}
			if !waits {
				waits = true
				h.growing++
				c.waiting++
				c.tell()
			}
			changed = c.changed
			if !others && !c.hope(h) {
				return short.quota(c.quota)
			}
			return err
		})
		if !errors.As(err, new(*shortage)) {
			return err
		}
		if err := c.pause(ctx, changed); err != nil {
			return err
		}
	}
}

func (d *Draft) tryGrow(size int64) error {
	entries, err := d.h.c.scan()
	if err != nil {
		return err
	}
	least := size - d.reserved
	n, err := d.h.c.room(entries, least, max(least, min(d.reserved, growth)))
	if err != nil {
		return err
	}
	if err := d.truncate(d.f, d.reserved+n); err != nil {
		return err
	}
	d.reserved += n
	return nil
}
