package cache

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

const (
	lockName     = "lock"
	stagedSuffix = ".staged"
	onceSuffix   = ".once"
	tempSuffix   = ".tmp"
	keyLen       = 64 // hexadecimal digits
)

// An entry is one file of the directory that this package has named.
type entry struct {
	name string
	key  string
	size int64  // of the copy, as its name says; 0 of one in the making
	sum  uint64 // its digest, as its name says
	temp bool   // in the making
	once bool   // it serves one run
	info fs.FileInfo
}

// used is when the last lease was taken or released.
func (e *entry) used() time.Time { return accessed(e.info) }

// whole reports whether it has the size that its name says, and no other user can write it.
func (e *entry) whole() bool { return !e.temp && trusted(e.info) && e.info.Size() == e.size }

func stagedName(key string, size int64, sum uint64, once bool) string {
	name := fmt.Sprintf("%s-%d-%016x", key, size, sum)
	if once {
		name += onceSuffix
	}
	return name + stagedSuffix
}

// parseName reads the name of a file; false where it is not of the cache.
func parseName(name string) (e entry, ok bool) {
	if len(name) <= keyLen || !isKey(name[:keyLen]) {
		return entry{}, false
	}
	e = entry{name: name, key: name[:keyLen]}
	rest := name[keyLen:]
	if rest[0] == '.' {
		e.temp = true
		return e, strings.HasSuffix(rest, tempSuffix)
	}
	rest, ok = strings.CutSuffix(rest, stagedSuffix)
	if !ok {
		return entry{}, false
	}
	rest, e.once = strings.CutSuffix(rest, onceSuffix)
	size, sum, _ := strings.Cut(strings.TrimPrefix(rest, "-"), "-")
	n, err := strconv.ParseInt(size, 10, 64)
	s, serr := strconv.ParseUint(sum, 16, 64)
	e.size, e.sum = n, s
	return e, err == nil && serr == nil && stagedName(e.key, e.size, e.sum, e.once) == name
}

// isKey reports whether s is 64 lower-case hexadecimal digits.
func isKey(s string) bool {
	return len(s) == keyLen && strings.Trim(s, "0123456789abcdef") == ""
}

// scan lists the regular files of the directory that are of the cache by name. Links and other
// special files take no room, and are never opened.
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
			continue // gone since
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

// nameByte is the byte of the file lock for a file name. Where two names share one, each seems to be
// in use when the other one is.
func nameByte(name string) int64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return namesFrom | int64(h.Sum64()>>3)
}
