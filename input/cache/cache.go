// Package cache keeps staged copies in a directory that processes share under one quota.
//
//	c, err := cache.Open(dir, 100<<30, cache.Options{})
//	hold, err := c.Reserve(ctx, []cache.Want{{Keys: []string{key}, Size: 1 << 20}}) // all of it, or waits
//	copied, err := hold.Copy(ctx, 0)                                                // nil: not there yet
//	draft := hold.Draft(0)                                                          // write it…
//	copied, err = draft.Commit()                                                    // …and use copied.Path
//	err = hold.Release()                                                            // it may be evicted from now on
//	err = c.Close()
//
// What is in the directory, mode 0700, files 0600:
//
//	<64 hex digits: the key>-<bytes>-<16 hex digits: digest>.staged       a copy
//	<64 hex digits>-<bytes>-<16 hex digits>.once.staged                   one that serves one run
//	<64 hex digits>.<random>.tmp                                          one in the making
//	<64 hex digits>.<random>.tree                                         a directory; its .tmp has the size reserved for it
//	lock                                                                  empty; see below
//
// A copy has a checksum a block (package blocksum), computed as it is written and kept in memory. A
// caller that reads through [Copy.Sums] compares each block. The name has a digest of the checksums.
//
// Copies are not synced: most are never read after a power failure, and those that are tell by
// their digest whether all of them reached the device. A copy that this [Cache] has neither
// written nor read through before is read through before it is handed out, which gives the
// checksums of its blocks. One that is not what its name says is removed.
//
// The sizes of all files, with what is reserved for those in the making, never exceed the quota.
// Where there is no room, the copies that nobody uses go, the one used longest ago first: its
// access time says when. Where that is not enough, [Cache.Reserve] waits until a copy is let go.
//
// Processes tell each other what they do by locks on byte ranges of the file lock (F_OFD_SETLK),
// which end with the process, whatever ends it, and cost no descriptor each:
//
//	0                                    exclusive: somebody counts, or reserves
//	1                                    shared: by everybody who has the directory open
//	2^61 + process<<28 + cache           exclusive: this cache holds what it will let go of
//	2^62 + hash of a file name           shared: in use; exclusive: being written, or removed
//
// Where there are no such locks (other systems than Linux, some network file systems) nothing is
// evicted and no debris removed: what others use cannot be told. The quota counts what they
// have, but two of them at once may exceed it.
package cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/ffconvert/ffconvert/internal/blocksum"
)

var (
	// ErrQuota means that there is no room and none will come: what is asked for is larger than
	// the quota, or all that could make room waits for room itself.
	ErrQuota = errors.New("over the staging quota")
	// ErrCrowded is an ErrQuota of a draft that could have grown, had others not had the room: it
	// is worth another try, with [Want.Extra].
	ErrCrowded = errors.New("the others have the room")
	// ErrDamaged means that a kept copy was not what its name says. It is removed by then.
	ErrDamaged = errors.New("the kept copy is damaged")
	// ErrChanged means that somebody else has written to a file of the cache.
	ErrChanged = errors.New("changed by somebody else")
	// ErrCopy means that a copy that was read has other bytes than were written to it.
	ErrCopy = blocksum.ErrChanged
)

// Options of a [Cache]. The zero value is usable.
type Options struct {
	// Transient removes each copy when its last user lets go of it: for a directory that serves
	// one run.
	Transient bool
	// Poll is how often a waiter looks at what other processes do. 0: 200 ms.
	Poll time.Duration
	// Fault fails the operations that it returns an error for; tests only.
	Fault func(op string) error

	process int64 // in place of the number of this one; tests only
	noLocks bool  // as on file systems without; tests only
}

// A Cache is a directory of staged copies. Its methods may be called concurrently.
type Cache struct {
	dir   string
	root  *os.Root
	quota int64
	opts  Options
	locks *os.File // the file lock; nil: there are no locks
	// The first byte of those that say that a cache of this process holds what it will let go of,
	// and the byte of this one.
	process, id int64

	turn chan struct{} // holds one: of the reservations only the first in line is tried

	mu      sync.Mutex
	changed chan struct{}    // closed, and another put here, when there may be more room, or less hope
	holds   map[*Hold]bool   // that are not released
	users   map[string]int   // base name of a copy to how many holds have it
	sound   map[string]sound // of the copies that were written, or read through, here
	making  map[string]bool  // keys with a draft
	temps   map[string]bool  // base names of drafts
	waiting int              // reservations and drafts that wait for room
	active  bool             // the byte id is locked
}

// process is what the caches of one process have in common. It tells them from those of others:
// who waits for a copy of its own process may wait for itself.
var process = int64(rand.Uint32() >> 1)

// Where what is locked: see the package's documentation.
const (
	accountByte = 0
	presentByte = 1
	usersFrom   = 1 << 61
	namesFrom   = 1 << 62
	perProcess  = 1 << 28
)

// Open opens the cache in dir, which it creates if need be, and removes what crashed processes
// have left there unfinished. A quota of 0 is none.
func Open(dir string, quota int64, opts Options) (*Cache, error) {
	for try := 0; ; try++ {
		c, err := open(dir, quota, opts)
		if !errors.Is(err, errGone) || try == 1000 {
			return c, err
		}
		time.Sleep(time.Millisecond)
	}
}

// errGone means that another process has removed the directory while it was being opened.
var errGone = errors.New("the cache directory is gone")

func open(dir string, quota int64, opts Options) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errGone
	} else if err != nil {
		return nil, err
	}
	c := &Cache{
		dir: dir, root: root, quota: quota, opts: opts,
		turn:    make(chan struct{}, 1),
		changed: make(chan struct{}), holds: map[*Hold]bool{}, users: map[string]int{},
		sound: map[string]sound{}, making: map[string]bool{}, temps: map[string]bool{},
	}
	c.process = usersFrom + cmp.Or(opts.process, process)*perProcess
	c.id = c.process + rand.Int64N(perProcess)
	if err := c.openLocks(); err != nil {
		c.shut()
		return nil, err
	}
	if err := c.removeDebris(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// openLocks opens the file lock and says that the directory is in use. Whoever removes the
// directory makes sure beforehand that nobody has said so.
func (c *Cache) openLocks() error {
	if fi, err := c.root.Lstat(lockName); err == nil && !fi.Mode().IsRegular() { // a link leads to somebody's file
		return fmt.Errorf("%s is there, and is not a file of a cache: %w", lockName, fs.ErrExist)
	}
	f, err := c.root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return errGone
	} else if err != nil {
		return err
	}
	c.locks = f
	ok, err := setLock(f, shared, presentByte, 1)
	if err != nil || c.opts.noLocks { // there are none here
		c.locks = nil
		f.Close()
		return c.removeFile(lockName)
	}
	if !ok || !c.inPlace() {
		return errGone
	}
	return nil
}

// inPlace tells whether the directory and its file lock still lie where they were opened.
func (c *Cache) inPlace() bool {
	same := func(a fs.FileInfo, aerr error, b fs.FileInfo, berr error) bool {
		return aerr == nil && berr == nil && os.SameFile(a, b)
	}
	held, herr := c.locks.Stat()
	named, nerr := c.root.Stat(lockName)
	dir, derr := c.root.Stat(".")
	path, perr := os.Stat(c.dir)
	return same(held, herr, named, nerr) && same(dir, derr, path, perr)
}

// removeDebris removes what no living process works on or can use.
func (c *Cache) removeDebris() error {
	if c.locks == nil {
		return nil
	}
	return c.accounted(context.Background(), func() error {
		entries, err := c.scan()
		if err != nil {
			return err
		}
		for _, e := range entries {
			if (e.temp || e.once) && trusted(e.info) {
				if _, err := c.removeUnused(e.name); err != nil {
					return err
				}
			}
		}
		return c.removeStrayTrees()
	})
}

// Close closes the cache once all that it handed out is released, and removes the directory
// where nothing is left in it.
func (c *Cache) Close() error {
	alone := c.locks == nil
	if c.locks != nil {
		alone, _ = setLock(c.locks, exclusive, presentByte, 1)
	}
	var err error
	if alone {
		err = c.removeEmpty()
	}
	return errors.Join(err, c.shut())
}

// shut closes the descriptors, and with them all locks end.
func (c *Cache) shut() error {
	var err error
	if c.locks != nil {
		err = c.locks.Close()
	}
	return errors.Join(err, c.root.Close())
}

// removeEmpty removes the directory if there is nothing in it but the file lock.
func (c *Cache) removeEmpty() error {
	entries, err := fs.ReadDir(c.root.FS(), ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if len(entries) > 1 || len(entries) == 1 && entries[0].Name() != lockName {
		return nil
	}
	if err := c.removeFile(lockName); err != nil {
		return err
	}
	err = os.Remove(c.dir)
	for _, fine := range []error{syscall.ENOTEMPTY, fs.ErrExist, fs.ErrNotExist, syscall.EBUSY} {
		if errors.Is(err, fine) {
			return nil
		}
	}
	return err
}

// Dir is the directory, as it was named.
func (c *Cache) Dir() string { return c.dir }

func (c *Cache) injected(op string) error {
	if c.opts.Fault != nil {
		return c.opts.Fault(op)
	}
	return nil
}
