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
			hope := c.othersActive() // before the room is looked for: see hope
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
			if !hope && !c.hope(h) {
				crowded := d.crowded(short)
				done() // before the others look again: they can wait for what h lets go of
				return short.refused(c.quota, crowded)
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

// tryGrow is grow without waiting. The account is held.
func (d *Draft) tryGrow(size int64) error {
	if err := d.takeExtra(size - d.reserved); err != nil || d.reserved >= size {
		return err
	}
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

// takeExtra takes up to n bytes of what the draft that d is beside has and does not need.
func (d *Draft) takeExtra(n int64) error {
	p := d.from
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n = min(max(n, min(d.reserved, growth)), p.reserved-max(p.size, p.least))
	if n <= 0 {
		return nil
	}
	f, err := p.file()
	if err != nil {
		return err
	}
	if err := p.truncate(f, p.reserved-n); err != nil {
		return err
	}
	p.reserved -= n
	if err := d.truncate(d.f, d.reserved+n); err != nil {
		return err
	}
	d.reserved += n
	return nil
}

// crowded tells whether others than d's own hold, and those that are kept for good, have room
// that d lacks. c.mu is held.
func (d *Draft) crowded(s *shortage) bool {
	ours := map[string]bool{}
	for h := range d.h.c.holds {
		for _, name := range h.names {
			ours[name] = ours[name] || h == d.h || h.kept
		}
	}
	for other := range d.h.open {
		ours[other.temp] = true
	}
	entries, err := d.h.c.scan()
	if err != nil {
		return false
	}
	free := s.have
	for _, e := range entries {
		if ours[e.name] {
			free += e.info.Size()
		}
	}
	return free < d.h.c.quota
}
