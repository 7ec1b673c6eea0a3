package input

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/text"
)

// Limits of a key that becomes the path of a file. Services allow keys of 1,024 bytes; file systems
// allow names of 255, and Linux paths of 4,095, including the path of the cache.
const (
	maxTreePath = 2048
	maxTreeName = 255
)

// treeBlock is the block size of most file systems, bytes.
const treeBlock = 4 << 10

// An ObjectTree is a listing of the objects below a prefix, where directories are inputs. It takes some 40 bytes
// of memory per object, plus its key and version.
type ObjectTree struct {
	Files   int   // objects
	Bytes   int64 // sum of their sizes
	Room    int64 // bytes in the cache, as files and directories of whole blocks
	Markers int   // empty objects whose keys end in a slash, which some tools make for directories; they are not in the tree

	url   string // common start of the objects' URLs; ends in a slash
	query string // end of the URLs: ?provider= of AIStore, or ""
	files []treeFile
}

// A treeFile is one object: its path below the prefix, with slashes, and its version.
type treeFile struct {
	text     string // the path followed by the version
	path     int32  // length of the path in text
	size     int64
	modified int64 // nanoseconds since 1970; noTime: unknown
}

const noTime = math.MinInt64

// NewTree returns an empty tree for the objects below a URL, with or without slashes at its end.
func NewTree(url string) *ObjectTree {
	t := &ObjectTree{}
	t.url, t.query = splitQuery(url)
	if scheme, rest, ok := strings.Cut(t.url, "://"); ok {
		t.url = scheme + "://" + strings.TrimRight(rest, "/") + "/"
	}
	return t
}

// prefix is the URL that is listed, which identifies the tree.
func (t *ObjectTree) prefix() string { return t.url + t.query }

func (f *treeFile) name() string { return f.text[:f.path] }

// Object returns the listed object for file i.
func (t *ObjectTree) Object(i int) store.Object {
	f := &t.files[i]
	o := store.Object{URL: t.url + f.name() + t.query, Size: f.size, Version: f.text[f.path:]}
	if f.modified != noTime {
		o.Modified = time.Unix(0, f.modified).UTC()
	}
	return o
}

// ModTime returns the modification time for the local copy of file i, the same in every run for one version of the
// object. The seconds are the service's; the nanoseconds are a hash of the version, so that two versions of one second
// differ. If the service gives no time, all of it is a hash, from 1970 to 2038, which every file system can store.
func (t *ObjectTree) ModTime(i int) time.Time {
	f := &t.files[i]
	version := sha256.Sum256(fmt.Appendf(nil, "%s %d", f.text[f.path:], f.modified))
	if f.modified != noTime {
		return time.Unix(0, f.modified).Truncate(time.Second).Add(time.Duration(binary.BigEndian.Uint32(version[:]) % 1e9))
	}
	return time.Unix(int64(binary.BigEndian.Uint32(version[:])>>1), 0)
}

// Add adds the next object of the listing, which must come in the order of keys. It refuses a key that cannot be a
// file below the directory, or that conflicts with a file before it.
func (t *ObjectTree) Add(o store.Object) error {
	bad := func(kind error, hint, format string, args ...any) error {
		return place.Refuse(Shown(o.URL), kind, hint, format, args...)
	}
	const rename = "rename it, or name what lies beside it"
	key, ok := strings.CutPrefix(o.URL, t.url)
	key, also := strings.CutSuffix(key, t.query)
	if !ok || !also {
		return bad(ErrMalformed, "", "the service lists it below %s", text.Name(Shown(t.url)))
	}
	last := ""
	if n := len(t.files); n > 0 {
		last = t.files[n-1].name()
	}
	switch {
	case o.Size == 0 && (key == "" || strings.HasSuffix(key, "/")):
		t.Markers++
		return nil
	case o.Size < 0:
		return bad(ErrMalformed, "", "the service does not say its size")
	case key <= last:
		return bad(ErrMalformed, "", "the service lists it after %s", text.Name(Shown(t.url+last)))
	}
	if problem := pathProblem(key); problem != "" {
		return bad(ErrKey, rename, "%s", problem)
	}
	room := max(1, (o.Size-1)/treeBlock+1) * treeBlock // an empty file takes a block, too
	for i, c := range key {
		// Directories that the previous file also has are counted already.
		if c != '/' || strings.HasPrefix(last, key[:i+1]) {
			continue
		}
		if _, is := t.Find(key[:i]); is {
			return bad(ErrKey, rename, "a file cannot be below %s, which is a file, too", text.Name(Shown(t.url+key[:i])))
		}
		room += treeBlock
	}
	if room < 0 || room > math.MaxInt64/4-t.Room {
		return bad(ErrMalformed, "", "the sizes that the service lists are more than 2 EiB")
	}
	f := treeFile{text: key + o.Version, path: int32(len(key)), size: o.Size, modified: noTime}
	if at := o.Modified; at.Year() >= 1970 && at.Year() < 2200 {
		f.modified = at.UnixNano()
	}
	t.files = append(t.files, f)
	t.Files, t.Bytes, t.Room = t.Files+1, t.Bytes+o.Size, t.Room+room
	return nil
}

// Find returns the index of the file with that path, if it exists.
func (t *ObjectTree) Find(path string) (i int, found bool) {
	i = t.from(path)
	return i, i < len(t.files) && t.files[i].name() == path
}

// Path returns the path of file i below the tree, with slashes.
func (t *ObjectTree) Path(i int) string { return t.files[i].name() }

// from returns the index of the first file whose path is not less than path.
func (t *ObjectTree) from(path string) int {
	return sort.Search(len(t.files), func(i int) bool { return t.files[i].name() >= path })
}

// pathProblem returns why a key cannot be a path below a directory; "" if it can.
func pathProblem(key string) string {
	switch {
	case len(key) > maxTreePath:
		return "a path of more than 2048 bytes"
	case strings.IndexByte(key, 0) >= 0:
		return "a zero byte"
	case os.PathSeparator != '/' && strings.ContainsRune(key, os.PathSeparator):
		return "a backslash, which divides paths here"
	}
	for name := range strings.SplitSeq(key, "/") {
		switch {
		case name == "":
			return "a name of no letters between slashes"
		case name == "." || name == "..":
			return "the name " + name + ", which leads elsewhere"
		case len(name) > maxTreeName:
			return "a name of more than 255 bytes"
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(key)) {
		return "a path that leads elsewhere here"
	}
	return ""
}

// Entries returns how many files and directories lie directly in a directory; "" is the root.
func (t *ObjectTree) Entries(path string) (n int) {
	if path != "" {
		path += "/"
	}
	for i := t.from(path); i < len(t.files) && strings.HasPrefix(t.files[i].name(), path); n++ {
		below := t.files[i].name()[len(path):]
		if name, _, dir := strings.Cut(below, "/"); dir {
			i = t.from(path + name + "0") // '0' is the byte after '/'
		} else {
			i++
		}
	}
	return n
}
