package cache

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
)

// reserve evicts copies until most bytes are free, or fewer if it cannot evict enough, and returns the number of free
// bytes, at most most. If it cannot free least bytes it evicts nothing and returns [ErrQuota]. The account must be
// locked.
func (c *Cache) reserve(entries []entry, least, most int64) (int64, error) {
	if c.quota <= 0 || most == 0 {
		return most, nil
	}
	free := c.quota
	for _, e := range entries {
		free -= e.info.Size()
	}
	if free >= most {
		return most, nil
	}
	have, others := free, int64(0) // bytes free after evicting all unused copies; bytes that other processes use
	var unused []entry
	for _, e := range entries {
		switch {
		case c.locks == nil || c.users[e.name] > 0 || !trusted(e.info):
		case c.lockedElsewhere(e.name):
			others += e.info.Size()
		default:
			unused = append(unused, e)
			have += e.info.Size()
		}
	}
	if have = max(have, 0); have < least {
		err := fmt.Errorf("%w: %s more bytes are needed, and of its %s bytes no more than %s can be had",
			ErrQuota, humanize.Comma(least), humanize.Comma(c.quota), humanize.Comma(have))
		if others > 0 {
			err = fmt.Errorf("%w; other processes use %s", err, humanize.Comma(others))
		}
		return 0, err
	}
	most = min(most, have)
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
			c.opts.Evicted(filepath.Join(c.Dir, e.name))
		}
	}
	return most, nil
}
