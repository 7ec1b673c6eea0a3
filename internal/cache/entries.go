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
	Used       time.Time `json:"used"`   // last
	InUse      bool      `json:"in_use"` // also if that is not known
	Unfinished bool      `json:"unfinished"`
	// Label names the source of the copy; "": the file system stores no labels. It decides nothing,
	// since any program that can write to the cache can set it.
	Label string `json:"source,omitempty"`
}

// IsCache reports whether a directory has a file in it that is named as only caches name files. It
// changes nothing there, as [Open] would.
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

// Clean removes the files without a lease that which selects. It returns their number and their bytes,
// with an error too.
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
