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

// An ObjectTree is a listing of the objects below a prefix, where directories are inputs. It takes
// some 40 bytes of memory per object, and its key and version.
type ObjectTree struct {
	Files   int   // objects
	Bytes   int64 // of all of them
	Room    int64 // bytes that they take in the cache, as files and directories of whole blocks
	Markers int   // objects left out: empty ones with a key that ends in a slash, which some tools make for directories

	url   string // what the objects' URLs begin with; ends in a slash
	query string // what they end with: ?provider= of AIStore, or nothing
	files []treeFile
}

// A treeFile is one object: its path below the prefix, with slashes, and what pins its version.
type treeFile struct {
	text     string // the path, and the version behind it
	path     int32  // bytes of the path
	size     int64
	modified int64 // nanoseconds since 1970; noTime: not known
}

const noTime = math.MinInt64

// NewTree begins the tree below a URL, which may end in slashes or not.
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

// Object returns file i, as it was listed.
func (t *ObjectTree) Object(i int) store.Object {
	f := &t.files[i]
	o := store.Object{URL: t.url + f.name() + t.query, Size: f.size, Version: f.text[f.path:]}
	if f.modified != noTime {
		o.Modified = time.Unix(0, f.modified).UTC()
	}
	return o
}

// ModTime returns the modification time that the copy of file i gets: the same in every run for one version of the object. Its
// seconds are the service's; its nanoseconds are a hash of the version, so that two versions of one second differ. If the
// service gives no time, all of it is a hash, from 1970 to 2038, which every file system can store.
func (t *ObjectTree) ModTime(i int) time.Time {
	f := &t.files[i]
	version := sha256.Sum256(fmt.Appendf(nil, "%s %d", f.text[f.path:], f.modified))
	if f.modified != noTime {
		return time.Unix(0, f.modified).Truncate(time.Second).Add(time.Duration(binary.BigEndian.Uint32(version[:]) % 1e9))
	}
	return time.Unix(int64(binary.BigEndian.Uint32(version[:])>>1), 0)
}

// Add takes the next object of the list, which must come in the order of keys. It refuses what
// cannot be a file below the directory, or conflicts with a file before it.
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
	room := blocks(o.Size)
	for i, c := range key {
		// Those that the file before has come through, too, are known.
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

// Find returns the number of the file with that path, if there is one.
func (t *ObjectTree) Find(path string) (i int, found bool) {
	i = t.from(path)
	return i, i < len(t.files) && t.files[i].name() == path
}

// Path returns the path of file i below the tree, with slashes.
func (t *ObjectTree) Path(i int) string { return t.files[i].name() }

// from returns the number of the first file with this path or a later one.
func (t *ObjectTree) from(path string) int {
	return sort.Search(len(t.files), func(i int) bool { return t.files[i].name() >= path })
}

// blocks is the room that a file takes, bytes; an empty one takes some, too.
func blocks(size int64) int64 { return max(1, (size-1)/treeBlock+1) * treeBlock }

// pathProblem says why a key cannot be a path below a directory; "" where it can.
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
			i = t.from(path + name + "0") // the byte behind a slash
		} else {
			i++
		}
	}
	return n
}
