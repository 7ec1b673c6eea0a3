package cache

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"time"
)

// An Entry is one file of the cache, as its users are told of it.
type Entry struct {
	Key        string    `json:"key"`
	Size       int64     `json:"size"`       // bytes that it takes
	Used       time.Time `json:"used"`       // last
	InUse      bool      `json:"in_use"`     // also where it cannot be told
	Unfinished bool      `json:"unfinished"` // in the making
	// Label is what it is a copy of, as far as the file system keeps that; "": not known. Who
	// can write to the cache can write it: it decides nothing.
	Label string `json:"source,omitempty"`
}

// IsCache reports whether a directory is used as a cache, or was: it has a name that only caches
// have. Nothing is changed there, as [Open] would.
func IsCache(dir string) (bool, error) {
	names, err := os.ReadDir(dir)
	return slices.ContainsFunc(names, func(e fs.DirEntry) bool {
		_, ours := parseName(e.Name())
		return ours || e.Name() == lockName
	}), err
}

// Entries lists what is in the cache, in the order of keys.
func (c *Cache) Entries() ([]Entry, error) {
	var list []Entry
	err := c.accounted(context.Background(), func() error {
		entries, err := c.scan()
		for i := range entries {
			e := c.entry(&entries[i])
			if f, err := c.root.Open(entries[i].name); err == nil {
				e.Label = labelOf(f)
				f.Close()
			}
			list = append(list, e)
		}
		return err
	})
	return list, err
}

func (c *Cache) entry(e *entry) Entry {
	return Entry{
		Key: e.key, Size: e.info.Size(), Used: e.used(), Unfinished: e.temp,
		InUse: c.locks == nil || c.temps[e.name] || c.users[e.name] > 0 || lockedByOthers(c.locks, nameByte(e.name), 1),
	}
}

// Clean removes the copies that nobody uses and that which wants gone. It returns how many
// there were, and their bytes, also beside an error.
func (c *Cache) Clean(which func(Entry) bool) (removed int, bytes int64, err error) {
	return c.clean(func(e *entry) bool { shown := c.entry(e); return !shown.InUse && which(shown) })
}

// Forget removes the copies of keys that no other process can have, but for those held here.
func (c *Cache) Forget(keys map[string]bool) error {
	_, _, err := c.clean(func(e *entry) bool { return keys[e.key] && c.users[e.name] == 0 && !c.temps[e.name] })
	return err
}

func (c *Cache) clean(which func(*entry) bool) (removed int, bytes int64, err error) {
	err = c.accounted(context.Background(), func() error {
		entries, err := c.scan()
		if err != nil {
			return err
		}
		for i := range entries {
			e := &entries[i]
			if !which(e) {
				continue
			}
			ok, err := c.removeUnused(e.name)
			if err != nil {
				return err
			}
			if ok {
				removed, bytes = removed+1, bytes+e.info.Size()
			}
		}
		return nil
	})
	return removed, bytes, err
}
