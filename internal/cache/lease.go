package cache

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ffconvert/ffconvert/internal/blocksum"
)

// A Request is for one copy.
type Request struct {
	// Keys are 64 lower-case hexadecimal digits each. A copy of any of them will do; a new copy is of
	// the first. Copies of one key must have the same bytes. No two requests of one call share a key.
	Keys []string
	// Size is the room to reserve for a new copy, bytes. The file grows if more is written; -1: from 0.
	Size int64
	// Once says that no other run can use the copy: [Cache.Close] removes it.
	Once bool
	// Label names the source for the user, see [Entry]. It must not hold a secret.
	Label string
}

// A Copy is a complete copy. The cache neither changes nor removes it before its [Lease] ends; Sums
// detect whether another program did.
type Copy struct {
	Path    string
	Size    int64          // bytes
	ModTime time.Time      // of the file at Path
	Sums    *blocksum.Sums // of its blocks
}

// A Lease is the use of one copy, which no process evicts meanwhile, or of one that the caller writes.
// WriteAt and ReadAt may be called concurrently. [Lease.Release] or [Lease.Remove] ends it.
type Lease struct {
	c     *Cache
	ctx   context.Context // of Reserve
	key   string
	once  bool
	label string

	// c.mu guards these two.
	name   string // base name of the file; "": the lease has ended
	copied *entry // nil: it is being written

	mu       sync.Mutex // guards what follows
	created  bool       // the unfinished file is there
	tree     bool       // with a directory
	f        *os.File   // nil: not open
	reserved int64      // bytes that the file is long
	size     int64      // where the last byte written ends
	rec      blocksum.Recorder
}

// Reserve leases, for each request, the copy that the cache has, or reserves room for a new one, which
// the caller writes. It leases all or none, and waits for no other lease: the error is [ErrQuota] if
// there is too little room, and [ErrWriting] if another lease of this cache writes one of the copies.
func (c *Cache) Reserve(ctx context.Context, requests []Request) (leases []*Lease, err error) {
	err = c.accounted(ctx, func() error {
		err := c.take(ctx, requests, &leases)
		if err != nil {
			for _, l := range leases {
				if eerr := l.end(false); eerr != nil {
					err = fmt.Errorf("%w; and %w", err, eerr)
				}
			}
			leases = nil
		}
		return err
	})
	return leases, err
}

// take leases the copies that are there and reserves room for the others. The account is locked.
func (c *Cache) take(ctx context.Context, requests []Request, leases *[]*Lease) error {
	entries, err := c.scan()
	if err != nil {
		return err
	}
	latest := map[string]*entry{} // by key
	for i := range entries {
		e := &entries[i]
		if s := latest[e.key]; e.whole() && (s == nil || s.used().Before(e.used())) {
			latest[e.key] = e
		}
	}
	var had, need int64
	for _, r := range requests {
		l := &Lease{c: c, ctx: ctx, key: r.Keys[0], once: r.Once, label: r.Label}
		for _, key := range r.Keys {
			if e := latest[key]; e != nil && l.copied == nil {
				if err := c.use(e.name); err != nil {
					return err
				}
				l.name, l.copied = e.name, e
				had += e.size
			}
		}
		*leases = append(*leases, l)
		if l.copied != nil {
			continue
		}
		if c.writing[l.key] {
			return ErrWriting
		}
		need += max(r.Size, 0)
	}
	if c.quota > 0 && had+need > c.quota {
		return tooSmall(had+need, c.quota)
	}
	if _, err := c.reserve(entries, need, need); err != nil {
		return err
	}
	for i, l := range *leases {
		if l.copied != nil {
			continue
		}
		l.begin()
		if size := requests[i].Size; size > 0 {
			if err := l.create(size); err != nil {
				return err
			}
		}
	}
	return nil
}

// use marks a file as in use. The account is locked.
func (c *Cache) use(name string) error {
	if err := c.lock(name); err != nil {
		return err
	}
	c.users[name]++
	touch(c.root, name)
	return nil
}

// disuse ends one use of a file, and reports whether it was the last one of this cache. c.mu is held.
func (c *Cache) disuse(name string) bool {
	if c.users[name]--; c.users[name] > 0 {
		return false
	}
	delete(c.users, name)
	c.unlock(name)
	return true
}

// touch sets the time of use, which is the access time: readers compare the modification time. If it
// fails the copy is evicted sooner.
func touch(root *os.Root, name string) { root.Chtimes(name, time.Now(), time.Time{}) }

// Copy returns the leased copy, nil if it is to be written. It first compares the copy with its
// digest, once in the life of the cache: [ErrDamaged] if they differ.
func (l *Lease) Copy(ctx context.Context) (*Copy, error) {
	if l.copied == nil {
		return nil, nil
	}
	now, err := l.c.check(ctx, l.copied)
	if err != nil {
		return nil, err
	}
	return now.copy(l.Path()), nil
}

// Release ends the lease: its copy may be evicted from now on. What was written without
// [Lease.Commit] is removed. It may be called again.
func (l *Lease) Release() error { return l.stop(false) }

// Remove ends the lease as Release does, and removes its copy unless another lease has it.
func (l *Lease) Remove() error { return l.stop(true) }

func (l *Lease) stop(remove bool) error {
	if l.tree { // before the lock, since it may take minutes; an error comes again below
		l.c.removeTree(l.name)
	}
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	return l.end(remove)
}

// end is stop. c.mu is held.
func (l *Lease) end(remove bool) error {
	c, name := l.c, l.name
	if name == "" {
		return nil
	}
	l.name = ""
	if l.copied == nil {
		return l.drop(name)
	}
	touch(c.root, name)
	if !c.disuse(name) || !remove || c.locks != nil && c.lockedElsewhere(name) {
		return nil
	}
	return c.removeFile(name)
}

// drop removes the unfinished file. c.mu is held.
func (l *Lease) drop(name string) error {
	c := l.c
	if l.f != nil {
		l.f.Close()
	}
	delete(c.writing, l.key)
	defer c.disuse(name)
	if !l.created {
		return nil
	}
	if err := c.removeFile(name); err != nil {
		return fmt.Errorf("%s stays behind: %w", filepath.Join(c.dir, name), err)
	}
	return nil
}
