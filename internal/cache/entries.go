package cache

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"time"
)

// An Entry describes one file of the cache.
type Entry struct {
	Key        string    `json:"key"`
	Size       int64     `json:"size"`   // bytes
	Used       time.Time `json:"used"`   // end or start of the last lease
	InUse      bool      `json:"in_use"` // a process has a lease, or there are no locks to know that
	Unfinished bool      `json:"unfinished"`
	// Label names the source of the copy; "": the file system stores no labels. It is for display only,
	// since any program that can write to the cache can set it.
	Label string `json:"source,omitempty"`
}

// IsCache reports whether a directory contains a file with the name of a cache file. Unlike [Open] it does not
// change the directory.
func IsCache(dir string) (bool, error) {
	names, err := os.ReadDir(dir)
	return slices.ContainsFunc(names, func(e fs.DirEntry) bool {
		return Named(e.Name())
	}), err
}

// Entries lists the files of the cache, in the order of keys.
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
		InUse: c.users[e.name] > 0 || c.lockedElsewhere(e.name),
	}
}

// Clean removes the files that have no lease and that which selects. It returns the number of files removed and
// their bytes, also after an error.
func (c *Cache) Clean(which func(Entry) bool) (removed int, bytes int64, err error) {
	return c.clean(func(e *entry) bool { return !c.lockedElsewhere(e.name) && which(c.entry(e)) })
}

func (c *Cache) clean(which func(*entry) bool) (removed int, bytes int64, err error) {
	err = c.accounted(context.Background(), func() error {
		entries, err := c.scan()
		if err != nil {
			return err
		}
		for i := range entries {
			e := &entries[i]
			if c.users[e.name] > 0 || !which(e) {
				continue
			}
			if err := c.removeFile(e.name); err != nil {
				return err
			}
			removed, bytes = removed+1, bytes+e.info.Size()
		}
		return nil
	})
	return removed, bytes, err
}
