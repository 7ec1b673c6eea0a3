package cache

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/ffconvert/ffconvert/internal/blocksum"
)

// A Request is for one copy.
type Request struct {
	// Keys are 64 lower-case hexadecimal digits each. A copy of any of them will do; a writer writes a
	// copy of the first. Copies of one key must have the same bytes. No two requests of a lease share
	// a key.
	Keys []string
	// Size is the room reserved for a writer, bytes. -1: not known; the file grows while it is written.
	Size int64
	// Spare is the room that the copy is expected to need beyond Size, bytes. Reserve waits for it as
	// long as another lease of this process may be released; other leases leave it to this one.
	Spare int64
	// Once says that no other run can use the copy: it is removed when its [Lease] is released.
	Once bool
	// Label names the source for the user, see [Entry]. It must not hold a secret.
	Label string
}

// A Copy is a complete copy. The cache neither changes nor removes it before its [Lease] is released;
// Sums detect whether another program did.
type Copy struct {
	Path    string
	Key     string
	Size    int64          // bytes
	ModTime time.Time      // of the file at Path
	Sums    *blocksum.Sums // of its blocks
}

// A Lease is the copies and writers of one user of the cache, which no process evicts. Its methods may
// be called concurrently, except for Keep and Release.
type Lease struct {
	c       *Cache
	ctx     context.Context // of Reserve
	copies  []*entry        // found, by request
	writers []*Writer       // of the others

	// c.mu guards what follows.
	names []string         // of the copies
	open  map[*Writer]bool // neither committed nor discarded
	spare int64            // bytes that other leases of this process leave to it
	stuck bool             // it waits for room, and has found none since the last release
	kept  bool             // it may be released only after other requests of its user
}

// errWriting means that another lease of this process writes the copy.
var errWriting = errors.New("the copy is being written")

// Reserve leases all copies that the cache has, and room for the others, at once or not at all. While
// there is too little room it waits, without a lease, for other leases of this process to be released;
// if none of them can be, the error is a [Shortage]. Of two leases that need the same writer the later
// one waits for the copy.
//
// A caller that has a lease must not call Reserve before it is released or kept (see [Lease.Keep]):
// it could wait for itself.
func (c *Cache) Reserve(ctx context.Context, requests []Request) (*Lease, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	for {
		l := &Lease{c: c, ctx: ctx, copies: make([]*entry, len(requests)), writers: make([]*Writer, len(requests)), open: map[*Writer]bool{}}
		var changed <-chan struct{}
		err := c.accounted(ctx, func() error {
			changed = c.changed
			err := l.take(requests)
			if err == nil {
				c.leases[l] = true
				return nil
			}
			return l.free(err)
		})
		if err == nil {
			return l, nil
		}
		short, full := errors.AsType[*Shortage](err)
		if err != errWriting && !(full && short.Others) {
			return nil, err
		}
		if err := wait(ctx, changed); err != nil {
			return nil, err
		}
	}
}

// take leases the copies that are there and reserves room for the others. The account is locked.
func (l *Lease) take(requests []Request) error {
	entries, err := l.c.scan()
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
	var had, need, spare int64
	for i, r := range requests {
		for _, key := range r.Keys {
			if e := latest[key]; e != nil && l.copies[i] == nil {
				if err := l.use(e.name); err != nil {
					return err
				}
				l.copies[i] = e
				had += e.size
			}
		}
		switch {
		case l.copies[i] != nil:
		case l.c.writing[r.Keys[0]]:
			return errWriting
		default:
			need, spare = need+max(r.Size, 0), spare+r.Spare
		}
	}
	if l.c.quota > 0 && had+need > l.c.quota {
		return &Shortage{Quota: l.c.quota, Need: had + need, atOnce: true}
	}
	l.spare = min(spare, l.c.quota-had-need)
	if _, err := l.c.reserve(l, entries, need, need, l.spare); err != nil {
		return err
	}
	for i, r := range requests {
		if l.copies[i] != nil {
			continue
		}
		w := l.newWriter(r.Keys[0], r.Once, r.Label)
		l.writers[i] = w
		if r.Size > 0 {
			if err := w.create(r.Size); err != nil {
				return err
			}
		}
	}
	return nil
}

// use leases the copy of a name. The account is locked.
func (l *Lease) use(name string) error {
	if err := l.c.lock(name); err != nil {
		return err
	}
	l.c.users[name]++
	l.names = append(l.names, name)
	l.c.touch(name)
	return nil
}

// touch sets the time of use, which is the access time: readers compare the modification time. If it
// fails the copy is evicted sooner.
func (c *Cache) touch(name string) { c.root.Chtimes(name, time.Now(), time.Time{}) }

// Keep says that the user of the lease makes other requests before releasing it, so that no request
// and no writer of this process waits for its release.
func (l *Lease) Keep() {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	l.kept = true
	l.c.wake()
}

// Retain moves copies from the lease to the [Cache]: they stay in use until that is closed.
func (l *Lease) Retain(copies ...*Copy) {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	kept := &l.c.kept
	for _, copied := range copies {
		if i := slices.Index(l.names, filepath.Base(copied.Path)); i >= 0 {
			kept.names = append(kept.names, l.names[i])
			l.names = slices.Delete(l.names, i, i+1)
		}
	}
}

// Copy returns the copy of request i, nil if it has a [Lease.Writer]. It first compares the copy with
// its digest, once in the life of the cache: [ErrDamaged] if they differ.
func (l *Lease) Copy(ctx context.Context, i int) (*Copy, error) {
	e := l.copies[i]
	if e == nil {
		return nil, nil
	}
	now, err := l.c.check(ctx, e)
	if err != nil {
		return nil, err
	}
	return l.c.copyOf(e, now), nil
}

// Writer returns the writer of request i, nil if the cache has a copy.
func (l *Lease) Writer(i int) *Writer { return l.writers[i] }

func (c *Cache) copyOf(e *entry, now sound) *Copy {
	return &Copy{Path: filepath.Join(c.dir, e.name), Key: e.key, Size: now.info.Size(), ModTime: now.info.ModTime(), Sums: now.sums}
}

// Release ends the lease and discards its writers. It may be called again.
func (l *Lease) Release() error {
	l.removeTrees(nil)
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	delete(l.c.leases, l)
	err := l.free(nil)
	l.c.freed()
	return err
}

// free ends the writers and the use of the copies. It returns err, or its own first error. c.mu is held.
func (l *Lease) free(err error) error {
	for w := range l.open {
		err = w.end(err)
	}
	c := l.c
	for _, name := range l.names {
		if c.users[name]--; c.users[name] > 0 {
			continue
		}
		delete(c.users, name)
		c.touch(name)
		c.unlock(name)
		if e, _ := parseName(name); (e.once || c.opts.Transient) && (c.locks == nil || !c.lockedElsewhere(name)) {
			if rerr := c.removeFile(name); err == nil {
				err = rerr
			}
		}
	}
	l.names = nil
	return err
}
