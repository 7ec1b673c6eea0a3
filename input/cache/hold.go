package cache

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/ffconvert/ffconvert/internal/blocksum"
)

// A Want is one copy that is needed.
type Want struct {
	// Keys are what a copy may be kept under, each 64 lower-case hexadecimal digits; a draft is
	// of the first. Whoever makes the keys sees to it that copies of one key are copies of the
	// same bytes. No two Wants of a reservation share a key.
	Keys []string
	// Size is what a draft takes at first, bytes. -1: not known; it grows as it is written.
	Size int64
	// Extra is what a draft had better have at hand beyond that, bytes, for what it grows or
	// becomes. It is waited for as long as somebody will let go of his; where nobody will, what
	// there is does.
	Extra int64
	// Once says that nothing can use the copy again once its [Hold] is released: it is removed then.
	Once bool
	// Label says for people what it is a copy of; see [Entry]. It must hold no secret.
	Label string
}

// A Copy is a complete copy. It stays what it is until the [Hold] that it is of is released, as far
// as the cache can see to that: Sums tell whether it has.
type Copy struct {
	Path    string
	Key     string
	Size    int64          // bytes
	ModTime time.Time      // of the file at Path
	Sums    *blocksum.Sums // of its blocks
}

// A Hold is what one user of the cache has at once, and nobody evicts. Its methods may be called
// concurrently, but for Release.
type Hold struct {
	c      *Cache
	ctx    context.Context // of the reservation; waiting for more room ends with it, too
	copies []*entry        // those that stood there, by want
	drafts []*Draft        // of the others

	// c.mu guards what follows.
	names   []string        // of the copies that it has
	open    map[*Draft]bool // neither committed nor discarded
	work    int             // those of wants among them
	growing int             // how many of them wait for room
	resting int             // how many wait for others of the hold to end
	kept    bool            // to the last
}

// errBusy means that a draft of the same key is being written.
var errBusy = errors.New("the copy is in the making")

// Reserve takes all of wants at once, or nothing: it holds the copies that stand there, and makes
// room for the others. Where there is none it waits, holding nothing, until copies are let go;
// where that would be in vain the error is [ErrQuota]. Of two reservations that need the same
// draft the later one waits for what becomes of it.
//
// Whoever has a Hold and reserves more may wait for himself, but for one that is [Hold.Last].
func (c *Cache) Reserve(ctx context.Context, wants []Want) (*Hold, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	waits := false
	defer func() {
		if waits {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.waiting--
			c.tell()
		}
	}()
	for {
		h := &Hold{c: c, ctx: ctx, copies: make([]*entry, len(wants)), drafts: make([]*Draft, len(wants)), open: map[*Draft]bool{}}
		var changed <-chan struct{}
		err := c.accounted(ctx, func() error {
			hope := c.othersActive() || c.hope(nil)
			err := h.try(wants, hope)
			if err == nil {
				c.holds[h] = true
				c.tell()
				return nil
			}
			if !waits {
				waits = true
				c.waiting++
				c.tell()
			}
			changed = c.changed
			if short, ok := errors.AsType[*shortage](err); ok && !hope {
				return short.refused(c.quota, false)
			}
			return err
		})
		if err == nil {
			return h, nil
		}
		if !errors.As(err, new(*shortage)) && err != errBusy {
			return nil, err
		}
		if err := c.pause(ctx, changed); err != nil {
			return nil, err
		}
	}
}

// try takes all of wants or nothing, without waiting. With hope for more the extras are not
// done without.
func (h *Hold) try(wants []Want, hope bool) error {
	err := h.takeAll(wants, hope)
	if err != nil {
		for d := range h.open {
			err = d.end(err)
		}
		h.letGo()
	}
	return err
}

func (h *Hold) takeAll(wants []Want, hope bool) error {
	entries, err := h.c.scan()
	if err != nil {
		return err
	}
	standing := map[string]*entry{} // by key, the copy used last
	for i := range entries {
		e := &entries[i]
		if s := standing[e.key]; e.whole() && (s == nil || s.used().Before(e.used())) {
			standing[e.key] = e
		}
	}
	var had, need, extra int64
	for i, w := range wants {
		for _, key := range w.Keys {
			if e := standing[key]; e != nil && h.copies[i] == nil && h.take(e.name) {
				h.copies[i] = e
				had += e.size
			}
		}
		if h.copies[i] == nil {
			if h.c.making[w.Keys[0]] {
				return errBusy
			}
			need, extra = need+max(w.Size, 0), extra+w.Extra
		}
	}
	extra = min(extra, h.c.quota-had-need)
	switch {
	case h.c.quota <= 0:
		extra = 0
	case extra < 0:
		return &tooLarge{had + need, h.c.quota}
	}
	least := need
	if hope {
		least += extra
	}
	n, err := h.c.room(entries, least, need+extra)
	if err != nil {
		return err
	}
	extra = n - need
	for i, w := range wants {
		if h.copies[i] != nil {
			continue
		}
		d := h.newDraft(w.Keys[0], w.Once, w.Label)
		d.primary, d.least = true, max(w.Size, 0)
		h.drafts[i] = d
		h.work++
		more := min(w.Extra, extra)
		extra -= more
		if d.least+more > 0 {
			if err := d.create(d.least + more); err != nil {
				return err
			}
		}
	}
	return nil
}

// take has the copy of a name; false where somebody is removing it.
func (h *Hold) take(name string) bool {
	c := h.c
	if c.users[name] == 0 {
		if ok, err := c.claim(shared, name); !ok || err != nil {
			return false
		}
	}
	h.have(name)
	return true
}

// have has the copy of a name that this cache has claimed.
func (h *Hold) have(name string) {
	h.c.users[name]++
	h.names = append(h.names, name)
	h.c.used(name)
}

// used keeps the time of use where reading does, too; the modification time stays: readers
// compare it. A copy whose time cannot be kept is merely evicted sooner.
func (c *Cache) used(name string) { c.root.Chtimes(name, time.Now(), time.Time{}) }

// active tells whether all that h has will be let go of without it getting more first.
func (h *Hold) active() bool {
	return len(h.names)+len(h.open) > 0 && (h.work == 0 || h.working())
}

// working tells whether something is done to a draft of h that needs no more room for it.
func (h *Hold) working() bool { return h.growing+h.resting < h.work }

// Keep moves copies to a hold of their own, which is released only when its user is done with
// all else: nobody here waits for that.
func (h *Hold) Keep(copies ...*Copy) *Hold {
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	k := &Hold{c: h.c, ctx: h.ctx, kept: true}
	for _, copied := range copies {
		if i := slices.Index(h.names, filepath.Base(copied.Path)); i >= 0 {
			k.names = append(k.names, h.names[i])
			h.names = slices.Delete(h.names, i, i+1)
		}
	}
	h.c.holds[k] = true
	h.c.tell()
	return k
}

// Last says that h is released only after what its user reserves next: nobody here waits for
// that, least of all its user.
func (h *Hold) Last() {
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	h.kept = true
	h.c.tell()
}

// Copy returns the copy that want i has found, nil where it has [Hold.Draft] instead. A copy that
// this cache neither wrote nor read before is read through first: [ErrDamaged] says that it was
// not what its name says.
func (h *Hold) Copy(ctx context.Context, i int) (*Copy, error) {
	e := h.copies[i]
	if e == nil {
		return nil, nil
	}
	now, err := h.c.check(ctx, e)
	if err != nil {
		return nil, err
	}
	return h.c.copyOf(e.name, e.key, now), nil
}

// Draft returns what want i is written to, nil where it has a copy.
func (h *Hold) Draft(i int) *Draft { return h.drafts[i] }

func (c *Cache) copyOf(name, key string, now sound) *Copy {
	return &Copy{Path: filepath.Join(c.dir, name), Key: key, Size: now.info.Size(), ModTime: now.info.ModTime(), Sums: now.sums}
}

// Release lets go of all copies and discards what was not committed. It may be called again.
func (h *Hold) Release() error {
	h.removeTrees(nil)
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	var err error
	for d := range h.open {
		err = d.end(err)
	}
	err = errors.Join(err, h.letGo())
	delete(h.c.holds, h)
	h.c.tell()
	return err
}

// letGo lets go of the copies. c.mu is held.
func (h *Hold) letGo() error {
	c := h.c
	var failed error
	for _, name := range h.names {
		if c.users[name]--; c.users[name] > 0 {
			continue
		}
		delete(c.users, name)
		if e, _ := parseName(name); !e.once && !c.opts.Transient {
			c.used(name)
			c.unclaim(name)
			continue
		}
		if _, err := c.removeUnused(name); err != nil && failed == nil {
			failed = err
		}
		c.unclaim(name)
	}
	h.names = nil
	return failed
}
