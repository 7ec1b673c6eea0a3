package cache

import (
	"context"
	"io/fs"
	"time"
)

// The bytes of the file lock: see the package documentation.
const (
	accountByte = 0
	presentByte = 1
	namesFrom   = 1 << 62
)

// accounted calls f with the account locked: no other process and no other goroutine counts, reserves,
// leases or evicts meanwhile. It waits for the lock until ctx ends.
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

// lock marks a file as in use by this process. Without locks it does nothing.
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

// lockedElsewhere reports whether another process may use a file. While the account is locked no
// other process begins to.
func (c *Cache) lockedElsewhere(name string) bool {
	return c.locks == nil || lockedByOthers(c.locks, nameByte(name))
}
