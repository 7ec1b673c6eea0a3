package cache

import (
	"context"
	"io/fs"
	"time"
)

// Offsets of locks in the file named lock, see the package documentation.
const (
	accountByte = 0
	presentByte = 1
	namesFrom   = 1 << 62
)

// accounted calls f with the account locked: until f returns no other process and no other goroutine counts,
// reserves, leases or evicts. It waits for the lock until ctx is done.
func (c *Cache) accounted(ctx context.Context, f func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.injected("lock"); err != nil {
		return err
	}
	for pause := 100 * time.Microsecond; c.locks != nil; pause = min(2*pause, 20*time.Millisecond) {
		ok, err := setLock(c.locks, exclusive, accountByte)
		if err != nil {
			return &fs.PathError{Op: "lock", Path: lockName, Err: err}
		}
		if ok {
			defer setLock(c.locks, unlocked, accountByte)
			break
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
	return f()
}

// lock marks a file as in use by this process. It does nothing if there are no locks.
func (c *Cache) lock(name string) error {
	if c.locks == nil {
		return nil
	}
	if _, err := setLock(c.locks, shared, nameByte(name)); err != nil {
		return &fs.PathError{Op: "lock", Path: name, Err: err}
	}
	return nil
}

func (c *Cache) unlock(name string) {
	if c.locks != nil {
		setLock(c.locks, unlocked, nameByte(name))
	}
}

// lockedElsewhere reports whether another process may be using a file. No other process can start to use it
// while the account is locked.
func (c *Cache) lockedElsewhere(name string) bool {
	return c.locks == nil || lockedByOthers(c.locks, nameByte(name))
}
