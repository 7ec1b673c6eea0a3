package cache

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// accounted calls f while no other process counts, reserves or looks up, nor does another
// goroutine of this one. It waits for its turn, which is short, until ctx ends.
func (c *Cache) accounted(ctx context.Context, f func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.injected("lock"); err != nil {
		return err
	}
	if c.locks == nil {
		return f()
	}
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 20*time.Millisecond) {
		ok, err := setLock(c.locks, exclusive, accountByte, 1)
		if err != nil {
			return &fs.PathError{Op: "lock", Path: lockName, Err: err}
		}
		if ok {
			break
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
	defer setLock(c.locks, unlocked, accountByte, 1)
	return f()
}

// claim locks a file name; false where another cache has locked it otherwise. Without locks
// there is nobody to ask.
func (c *Cache) claim(kind lockKind, name string) (bool, error) {
	if c.locks == nil {
		return true, nil
	}
	ok, err := setLock(c.locks, kind, nameByte(name), 1)
	if err != nil {
		err = &fs.PathError{Op: "lock", Path: name, Err: err}
	}
	return ok, err
}

func (c *Cache) unclaim(name string) { c.claim(unlocked, name) }

// removeUnused removes a file that no other cache has locked; that this one does not use it
// is for the caller to know.
func (c *Cache) removeUnused(name string) (bool, error) {
	ok, err := c.claim(exclusive, name)
	if err != nil || !ok {
		return false, err
	}
	defer c.unclaim(name)
	return true, c.removeFile(name)
}

// removeFile removes a file, and the directory that it stands for. c.mu is held, but while the cache
// is opened or closed.
func (c *Cache) removeFile(name string) error {
	if e, ok := parseName(name); ok && e.temp {
		if err := c.removeTree(name); err != nil {
			return err
		}
	}
	delete(c.sound, name)
	if err := c.injected("remove"); err != nil {
		return err
	}
	if err := c.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// othersActive tells whether a cache of another process holds what it will let go of.
func (c *Cache) othersActive() bool {
	if c.locks == nil {
		return false
	}
	next := c.process + perProcess
	return lockedByOthers(c.locks, usersFrom, c.process-usersFrom) || lockedByOthers(c.locks, next, namesFrom-next)
}

// tell lets other processes know whether this cache holds what it will let go of, and those
// who wait here that they had better look again. c.mu is held.
func (c *Cache) tell() {
	active := false
	for h := range c.holds {
		active = active || h.active() && !(h.kept && c.waiting > 0)
	}
	if active != c.active && c.locks != nil {
		kind := unlocked
		if active {
			kind = exclusive
		}
		setLock(c.locks, kind, c.id, 1) // fails for want of memory alone; then others do not wait for us
	}
	c.active = active
	close(c.changed)
	c.changed = make(chan struct{})
}

// pause waits until there may be more room.
func (c *Cache) pause(ctx context.Context, changed <-chan struct{}) error {
	poll := c.opts.Poll
	if poll <= 0 {
		poll = 200 * time.Millisecond
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-changed:
	case <-time.After(poll):
	}
	return nil
}
