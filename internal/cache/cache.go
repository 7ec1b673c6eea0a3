package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/ffconvert/ffconvert/internal/place"
)

var (
	// ErrQuota means that the quota is too small for a new copy in addition to the copies in use.
	ErrQuota = place.New(place.Refused, "over the staging quota")
	// ErrWriting means that another lease of this process is writing the copy.
	ErrWriting = errors.New("the copy is being written")
	// ErrDamaged means that a copy differs from the digest in its name. The cache has removed it.
	ErrDamaged = errors.New("the kept copy is damaged")
	// ErrChanged means that another program has written to a file of the cache.
	ErrChanged = errors.New("changed by another program")
)

// Options of a [Cache]. The zero value is usable.
type Options struct {
	// Evicted is called with the path of each copy that is removed to make room. nil: not called.
	Evicted func(path string)
	// Fault fails the operations that it returns an error for; tests only.
	Fault func(op string) error

	noLocks bool // behave as on a file system without locks; tests only
}

// A Cache is an open directory of staged copies. Its methods may be called concurrently.
type Cache struct {
	Dir   string // as it was given to Open
	root  *os.Root
	quota int64
	opts  Options
	locks *os.File // the file named lock; nil: the file system has no locks

	mu      sync.Mutex
	users   map[string]int      // number of leases by base name of the file
	writing map[string]bool     // keys of copies that are being written
	intact  map[string]verified // by base name, the copies that this cache has written or verified
}

// Open opens the cache in dir, creating dir if it is missing, and removes files that killed processes have
// left. quota is in bytes; 0 means no limit.
func Open(dir string, quota int64, opts Options) (*Cache, error) {
	for try := 0; ; try++ {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		c, err := open(dir, quota, opts)
		if !errors.Is(err, fs.ErrNotExist) || try == 1000 {
			return c, err
		}
		time.Sleep(time.Millisecond) // another process has just removed the directory
	}
}

func open(dir string, quota int64, opts Options) (*Cache, error) {
	c := &Cache{Dir: dir, quota: quota, opts: opts, users: map[string]int{}, writing: map[string]bool{}, intact: map[string]verified{}}
	switch err := c.open(); {
	case err == nil:
		return c, nil
	case c.locks == nil || errors.Is(err, fs.ErrNotExist):
		c.shut()
		return nil, err
	default:
		c.Close()
		return nil, err
	}
}

func (c *Cache) open() (err error) {
	if c.root, err = os.OpenRoot(c.Dir); err != nil {
		return err
	}
	if fi, err := c.root.Lstat(lockName); err == nil && !fi.Mode().IsRegular() { // a link could point to any file
		return fmt.Errorf("%s is there, and is not a file of a cache: %w", lockName, fs.ErrExist)
	}
	if c.locks, err = c.root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return err
	}
	// This lock prevents other processes from removing the directory.
	ok, err := setLock(c.locks, shared, presentByte)
	if err != nil || c.opts.noLocks { // the file system has no locks
		c.locks.Close()
		c.locks = nil
		return c.removeFile(lockName)
	}
	now, err := c.root.Stat(lockName)
	if held, herr := c.locks.Stat(); !ok || err == nil && (herr != nil || !os.SameFile(held, now)) {
		return fs.ErrNotExist
	}
	if err != nil {
		return err
	}
	return c.removeDebris()
}

// removeDebris removes files that killed processes have left.
func (c *Cache) removeDebris() error {
	_, _, err := c.clean(func(e *entry) bool { return (e.temp || e.once) && trusted(e.info) && !c.lockedElsewhere(e.name) })
	if err != nil {
		return err
	}
	return c.accounted(context.Background(), c.removeStrayTrees)
}

// Close closes the cache, removes its copies with [Request].Once, and removes the directory if it is
// empty and no other process has it open. All leases must have ended.
func (c *Cache) Close() (err error) {
	for name := range c.intact {
		if e, _ := parseName(name); e.once {
			err = errors.Join(err, c.removeFile(name))
		}
	}
	alone := c.locks == nil
	if c.locks != nil {
		alone, _ = setLock(c.locks, exclusive, presentByte)
	}
	if alone {
		err = errors.Join(err, c.removeEmpty())
	}
	return errors.Join(err, c.shut())
}

// shut closes the descriptors, which releases all locks.
func (c *Cache) shut() (err error) {
	if c.locks != nil {
		err = c.locks.Close()
	}
	if c.root != nil {
		err = errors.Join(err, c.root.Close())
	}
	return err
}

// removeEmpty removes the directory if it contains at most the file named lock.
func (c *Cache) removeEmpty() error {
	entries, err := fs.ReadDir(c.root.FS(), ".")
	if len(entries) > 1 || len(entries) == 1 && entries[0].Name() != lockName {
		return nil
	}
	if err == nil {
		err = c.removeFile(lockName)
	}
	if err == nil {
		err = os.Remove(c.Dir)
	}
	for _, fine := range []error{syscall.ENOTEMPTY, fs.ErrExist, fs.ErrNotExist, syscall.EBUSY} {
		if errors.Is(err, fine) {
			return nil
		}
	}
	return err
}

func (c *Cache) injected(op string) error {
	if c.opts.Fault != nil {
		return c.opts.Fault(op)
	}
	return nil
}

// removeFile removes a file and, if it is unfinished, its .tree directory. c.mu must be held, except while the
// cache is opened or closed.
func (c *Cache) removeFile(name string) error {
	if e, ok := parseName(name); ok && e.temp {
		if err := c.removeTree(name); err != nil {
			return err
		}
	}
	delete(c.intact, name)
	if err := c.injected("remove"); err != nil {
		return err
	}
	if err := c.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
