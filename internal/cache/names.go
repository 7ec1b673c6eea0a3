package cache

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"strconv"
	"time"

	"github.com/ffconvert/ffconvert/internal/text"
)

const (
	lockName     = "lock"
	stagedSuffix = ".staged"
	onceSuffix   = ".once"
	tempSuffix   = ".tmp"
)

// An entry is a file in the directory whose name parseName accepts.
type entry struct {
	name string
	key  string
	size int64  // of the copy, from its name; 0 if temp
	sum  uint64 // digest, from its name
	temp bool   // unfinished
	once bool   // for one run, see [Request]
	info fs.FileInfo
}

// used returns when a lease was last taken or released.
func (e *entry) used() time.Time { return accessed(e.info) }

// whole reports whether a copy is complete: it has the size in its name, and no other user can write to it.
func (e *entry) whole() bool { return !e.temp && trusted(e.info) && e.info.Size() == e.size }

func stagedName(key string, size int64, sum uint64, once bool) string {
	name := fmt.Sprintf("%s-%d-%016x", key, size, sum)
	if once {
		name += onceSuffix
	}
	return name + stagedSuffix
}

// namePattern matches the names of copies and of unfinished ones.
var namePattern = text.Pattern(`^([0-9a-f]{64})(?:-(0|[1-9][0-9]*)-([0-9a-f]{16})(\.once)?\.staged|\.(?:.*\.)?tmp)$`)

// Named reports whether a base name is that of a cache file.
func Named(name string) bool {
	_, ok := parseName(name)
	return ok || name == lockName
}

// parseName parses the name of a file; false if it is not the name of a cache file.
func parseName(name string) (entry, bool) {
	m := namePattern().FindStringSubmatch(name)
	if m == nil {
		return entry{}, false
	}
	e := entry{name: name, key: m[1], temp: m[2] == "", once: m[4] != ""}
	if e.temp {
		return e, true
	}
	var err error
	if e.size, err = strconv.ParseInt(m[2], 10, 64); err == nil {
		e.sum, err = strconv.ParseUint(m[3], 16, 64)
	}
	return e, err == nil
}

// scan lists the regular files of the directory with names of cache files. Links and special files count
// nothing, and are never opened.
func (c *Cache) scan() ([]entry, error) {
	if err := c.injected("scan"); err != nil {
		return nil, err
	}
	all, err := fs.ReadDir(c.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var entries []entry
	for _, d := range all {
		e, ok := parseName(d.Name())
		if !ok {
			continue
		}
		e.info, err = d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since ReadDir
		}
		if err != nil {
			return nil, err
		}
		if e.info.Mode().IsRegular() {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// nameByte returns the offset of the lock for a file name. If two names share an offset, each seems to be
// in use while the other is.
func nameByte(name string) int64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return namesFrom | int64(h.Sum64()>>3)
}
