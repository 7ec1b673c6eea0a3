package input

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	stagedSuffix = ".staged"
	tempSuffix   = ".tmp"

	// orphanAge is how old a temporary file without a living writer must be before
	// it is removed: far longer than a writer takes from creating to locking it.
	orphanAge = time.Hour
)

// A cache is the directory of staged copies. Its methods may be called concurrently.
type cache struct {
	dir      string
	root     *os.Root
	quota    int64               // bytes; 0: none
	used     atomic.Int64        // bytes of the copies in it, unfinished ones included
	complete map[string][]string // identity to the copies that stood there when it was opened
	fault    func(op string) error
}

// openCache creates dir if need be, removes what crashed runs left unfinished, and
// adds up the rest.
func openCache(dir string, quota int64, fault func(string) error) (*cache, error) {
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("no cache directory: %w", err)
		}
		dir = filepath.Join(base, "ffconvert")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, ioError(dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, ioError(dir, err)
	}
	c := &cache{dir: dir, root: root, quota: quota, complete: map[string][]string{}, fault: fault}
	if err := c.scan(); err != nil {
		root.Close()
		return nil, ioError(dir, err)
	}
	return c, nil
}

func (c *cache) scan() error {
	entries, err := fs.ReadDir(c.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		temp := strings.HasSuffix(e.Name(), tempSuffix)
		if !temp && !strings.HasSuffix(e.Name(), stagedSuffix) {
			continue
		}
		fi, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // another run's, gone since
		}
		if err != nil {
			return err
		}
		if !fi.Mode().IsRegular() || temp && c.removeOrphan(fi) {
			continue
		}
		c.used.Add(fi.Size())
		if !temp && trusted(fi) {
			id, _, _ := strings.Cut(e.Name(), "-")
			c.complete[id] = append(c.complete[id], e.Name())
		}
	}
	return nil
}

// removeOrphan removes a temporary file that nobody is writing.
func (c *cache) removeOrphan(fi fs.FileInfo) bool {
	if time.Since(fi.ModTime()) < orphanAge || !trusted(fi) {
		return false
	}
	f, err := c.root.Open(fi.Name())
	if err != nil {
		return false
	}
	defer f.Close()
	return lock(f) && c.root.Remove(fi.Name()) == nil
}

func (c *cache) close() error { return c.root.Close() }

// identity names a file by where it is and what its metadata says, so that another
// file, or the same one changed, is staged anew.
func identity(n Name) (string, error) {
	path, err := filepath.Abs(n.Path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "ffconvert staged copy 1\n%q\n%d\n%d\n", path, n.Size, n.ModTime.UnixNano()))
	return hex.EncodeToString(sum[:]), nil
}

// mark is a number that is another when what is named has changed; 0 where that cannot be told.
func (n Name) mark() int64 {
	if n.ModTime.IsZero() {
		return 0
	}
	return n.ModTime.UnixNano()
}

// anonymous is an identity that nothing else has.
func anonymous() string {
	var b [sha256.Size]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// stagedName says how long the copy is, so that one which was cut is not used again.
func stagedName(id string, size int64) string {
	return id + "-" + strconv.FormatInt(size, 10) + stagedSuffix
}

// lookup finds the complete copy of an identity.
func (c *cache) lookup(id string) (name string, fi fs.FileInfo) {
	for _, name := range c.complete[id] {
		fi, err := c.root.Lstat(name)
		if err == nil && trusted(fi) && name == stagedName(id, fi.Size()) {
			return name, fi
		}
	}
	return "", nil
}

// reserve asks for n more bytes.
func (c *cache) reserve(n int64) error {
	if c.used.Add(n) > c.quota && c.quota > 0 {
		c.used.Add(-n)
		return fmt.Errorf("%w: more than %d bytes in %s", ErrQuota, c.quota, quote(c.dir))
	}
	return nil
}

func (c *cache) injected(op string) error {
	if c.fault != nil {
		return c.fault(op)
	}
	return nil
}

// A copyWriter is a copy in the making. Either commit or discard ends it.
type copyWriter struct {
	c    *cache
	id   string
	temp string
	f    *os.File
	n    int64 // bytes written and reserved
}

func (c *cache) create(id string) (*copyWriter, error) {
	temp := id + "." + rand.Text() + tempSuffix
	if err := c.injected("create"); err != nil {
		return nil, err
	}
	f, err := c.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	lock(f) // where it cannot be locked, no run can take it for an orphan either
	return &copyWriter{c: c, id: id, temp: temp, f: f}, nil
}

func (w *copyWriter) Write(p []byte) (int, error) {
	if err := w.c.reserve(int64(len(p))); err != nil {
		return 0, err
	}
	w.n += int64(len(p))
	if err := w.c.injected("write"); err != nil {
		return 0, err
	}
	return w.f.Write(p)
}

// commit gives the copy its name. After an error, discard.
func (w *copyWriter) commit() (name string, fi fs.FileInfo, err error) {
	f := w.f
	w.f = nil
	if err := w.sync(f); err != nil {
		f.Close()
		return "", nil, err
	}
	if err := w.c.injected("close"); err != nil {
		f.Close()
		return "", nil, err
	}
	if err := f.Close(); err != nil {
		return "", nil, err
	}
	if err := w.c.injected("rename"); err != nil {
		return "", nil, err
	}
	name = stagedName(w.id, w.n)
	fi, err = w.c.root.Lstat(w.temp)
	if err != nil {
		return "", nil, err
	}
	if fi.Size() != w.n {
		return "", nil, fmt.Errorf("%w: the copy has %d bytes, not the %d written to it", ErrChanged, fi.Size(), w.n)
	}
	return name, fi, w.c.root.Rename(w.temp, name)
}

// sync brings the copy to the device before it has its name: a later run trusts the
// name, and after a power failure a copy of the right size could have holes.
func (w *copyWriter) sync(f *os.File) error {
	if err := w.c.injected("sync"); err != nil {
		return err
	}
	return f.Sync()
}

// discard removes the copy, because of cause, which it returns.
func (w *copyWriter) discard(cause error) error {
	if w.f != nil {
		w.f.Close()
	}
	w.c.used.Add(-w.n)
	return w.c.remove(w.temp, cause)
}

// remove removes a file of the cache and returns cause, to which it adds its own
// failure: what stays behind must be known.
func (c *cache) remove(name string, cause error) error {
	if err := c.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; and %s stays behind: %w", cause, filepath.Join(c.dir, name), err)
	}
	return cause
}

// removeEmpty removes the directory if nothing is in it.
func removeEmpty(dir string) error {
	err := os.Remove(dir)
	for _, fine := range []error{syscall.ENOTEMPTY, fs.ErrExist, fs.ErrNotExist, syscall.EBUSY} {
		if errors.Is(err, fine) {
			return nil
		}
	}
	return err
}
