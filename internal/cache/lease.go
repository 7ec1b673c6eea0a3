package cache

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/ffconvert/ffconvert/internal/checksum"
)

// A Request asks [Cache.Reserve] for a lease on one copy.
type Request struct {
	// Keys are 64 lower-case hexadecimal digits each. An existing copy may have any of them; a new copy gets
	// the first. All copies of a key must have the same bytes. Requests of one call must not share a key.
	Keys []string
	// Size is the room to reserve for a new copy, in bytes; -1: none. The file grows if more is written.
	Size int64
	// Once makes [Cache.Close] remove the copy: no other run can use it.
	Once bool
	// Label names the source for the user, see [Entry]. It must not hold a secret.
	Label string
}

// A Copy is a complete copy. The cache neither changes nor removes it before its [Lease] ends; Sums
// detect changes by other programs.
type Copy struct {
	Path    string
	Size    int64          // bytes
	ModTime time.Time      // of the file at Path
	Sums    *checksum.Sums // of its blocks
}

// A Lease protects one copy from eviction by any process, or is for a new copy that the caller writes.
// WriteAt and ReadAt may be called concurrently. [Lease.Release] or [Lease.Remove] ends it.
type Lease struct {
	c     *Cache
	ctx   context.Context // of Reserve
	key   string
	once  bool
	label string

	// c.mu guards these two.
	name   string // base name of the file; "": the lease has ended
	copied *entry // nil: the copy is unfinished

	mu       sync.Mutex // guards the fields below
	created  bool       // the unfinished file exists
	tree     bool       // and has a .tree directory
	f        *os.File   // nil: not open
	reserved int64      // length of the file
	size     int64      // end of the bytes written
	rec      checksum.Recorder
}

// Reserve leases, for each request, the existing copy, or else reserves room for a new copy, which the
// caller must write. It returns all leases or none, and does not wait for other leases: the error is [ErrQuota] if
// there is too little room, and [ErrWriting] if another lease of this cache is writing one of the copies.
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

// take leases the existing copies and reserves room for the others. The account must be locked.
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
		return fmt.Errorf("%w: %s bytes are needed at once, and it is %s bytes", ErrQuota, humanize.Comma(had+need), humanize.Comma(c.quota))
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

// use adds a use of a file, and locks its byte. The account must be locked.
func (c *Cache) use(name string) error {
	if err := c.lock(name); err != nil {
		return err
	}
	c.users[name]++
	touch(c.root, name)
	return nil
}

// disuse ends one use of a file, and reports whether it was the last use in this cache. c.mu must be held.
func (c *Cache) disuse(name string) bool {
	if c.users[name]--; c.users[name] > 0 {
		return false
	}
	delete(c.users, name)
	c.unlock(name)
	return true
}

// touch sets the access time, which orders evictions; readers compare the modification time, which stays. If it
// fails, the copy is evicted sooner.
func touch(root *os.Root, name string) { root.Chtimes(name, time.Now(), time.Time{}) }

// Copy returns the leased copy; nil if the caller must write it. The first call for a copy in this cache compares it
// with its digest: [ErrDamaged] if they differ.
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

// Release ends the lease: its copy may then be evicted. An unfinished copy, without [Lease.Commit], is
// removed. Release may be called again.
func (l *Lease) Release() error { return l.stop(false) }

// Remove is Release, and also removes the copy unless another lease covers it.
func (l *Lease) Remove() error { return l.stop(true) }

func (l *Lease) stop(remove bool) error {
	if l.tree { // before locking, since it may take minutes; end repeats it and returns the error
		l.c.removeTree(l.name)
	}
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	return l.end(remove)
}

// end is stop with c.mu held.
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

// drop removes the unfinished file. c.mu must be held.
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
		return fmt.Errorf("%s stays behind: %w", filepath.Join(c.Dir, name), err)
	}
	return nil
}
