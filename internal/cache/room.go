package cache

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
)

// A Shortage is an [ErrQuota] with its numbers of bytes.
type Shortage struct {
	Quota     int64
	Need      int64 // beyond the bytes of the lease, or with them if that exceeds Quota
	Have      int64 // free, or evictable
	Processes int64 // used by other processes
	// Others says that other leases of this process may be released: then there may be room.
	Others bool

	atOnce bool
}

func (s *Shortage) Error() string {
	if s.atOnce {
		return fmt.Sprintf("%v: %s bytes are needed at once, and it is %s bytes", ErrQuota, humanize.Comma(s.Need), humanize.Comma(s.Quota))
	}
	text := fmt.Sprintf("%v: %s more bytes are needed, and of its %s bytes no more than %s can be had", ErrQuota, humanize.Comma(s.Need), humanize.Comma(s.Quota), humanize.Comma(s.Have))
	if s.Processes > 0 {
		text += fmt.Sprintf("; other processes use %s", humanize.Comma(s.Processes))
	}
	return text
}

func (s *Shortage) Is(target error) bool { return target == ErrQuota }

// reserve evicts copies until most bytes are free, or as many as l can have, and returns that number.
// If that is less than least it evicts nothing, and the error is a [Shortage]; the same if
// spare bytes beyond most are not free, and another lease may be released. The account is locked.
func (c *Cache) reserve(l *Lease, entries []entry, least, most, spare int64) (int64, error) {
	if c.quota <= 0 || most+spare == 0 {
		return most, nil
	}
	free, reserved := c.quota, int64(0)
	for _, e := range entries {
		free -= e.info.Size()
	}
	for other := range c.leases {
		if other != l && !other.stuck {
			reserved += other.spare
		}
	}
	if free-reserved >= most+spare {
		return most, nil
	}
	short := &Shortage{Quota: c.quota, Need: least, Have: free - reserved, Others: c.others(l, false)}
	var unused []entry
	for _, e := range entries {
		switch {
		case c.locks == nil || c.writing[e.name] || c.users[e.name] > 0 || !trusted(e.info):
		case c.lockedElsewhere(e.name):
			short.Processes += e.info.Size()
		default:
			unused = append(unused, e)
			short.Have += e.info.Size()
		}
	}
	short.Have = max(short.Have, 0)
	if short.Have < least || short.Have < most+spare && spare > 0 && short.Others {
		return 0, short
	}
	most = min(most, short.Have)
	slices.SortFunc(unused, func(a, b entry) int { // least recently used first
		return cmp.Or(a.used().Compare(b.used()), strings.Compare(a.name, b.name))
	})
	for _, e := range unused {
		if free >= most {
			break
		}
		if err := c.removeFile(e.name); err != nil {
			return 0, err
		}
		free += e.info.Size()
		if c.opts.Evicted != nil {
			c.opts.Evicted(filepath.Join(c.dir, e.name))
		}
	}
	return most, nil
}

// others reports whether another lease of this process may be released. With canProgress, leases that
// wait for room themselves do not count. c.mu is held.
func (c *Cache) others(l *Lease, canProgress bool) bool {
	for other := range c.leases {
		if other != l && !other.kept && !(canProgress && other.stuck) {
			return true
		}
	}
	return false
}

// freed wakes all waiting callers, since there may be more room. c.mu is held.
func (c *Cache) freed() {
	for l := range c.leases {
		l.stuck = false
	}
	c.wake()
}

// wake lets all waiting callers check again. c.mu is held.
func (c *Cache) wake() {
	close(c.changed)
	c.changed = make(chan struct{})
}

func wait(ctx context.Context, changed <-chan struct{}) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-changed:
		return nil
	}
}
