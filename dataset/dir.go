package dataset

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/place"
)

// A Dir is an open directory, of which [WorkDir] is ours. Everything in it is reached through an [os.Root], so that no
// link in it leads out. Its methods may be called concurrently, but for Close.
type Dir struct {
	Root    *os.Root
	path    string
	mu      sync.Mutex
	temps   *os.Root // the directory of this process's temporary files; nil: not made yet
	token   string   // names the temporary files of this process; "": the directory is only read
	lock    *os.File // nil: it is only read, or its file system has no locks
	shared  bool     // other processes may hold the lock, too
	created bool     // it was not there before
	began   bool     // it has a plan
	scratch bool     // Close removes it
}

var (
	// ErrLocked says that another process writes to a directory.
	ErrLocked = errors.New("another ffconvert is writing there")
	// ErrMoved says that the path of an output no longer leads to the directory that was opened.
	ErrMoved = place.New(place.IO, "renamed, removed or replaced while it was written to; put it back, and the same command goes on")
)

// workDirs are the directories that this program makes in a Dir.
var workDirs = []string{WorkDir, TmpDir, RunningDir, JournalsDir, IndexedDir}

// OpenDir makes a directory where there is none, and locks it. One that another process writes to is [ErrLocked].
func OpenDir(path string) (*Dir, error) { return openDir(path, false) }

func openDir(path string, shared bool) (*Dir, error) {
	_, err := os.Stat(path)
	d := &Dir{path: path, token: newToken(), shared: shared, created: errors.Is(err, fs.ErrNotExist)}
	if err != nil && !d.created {
		return nil, err
	}
	if err := d.open(); err != nil {
		if errors.Is(err, ErrLocked) {
			err = fmt.Errorf("%s: %w", path, err)
		}
		return nil, err
	}
	if d.began, err = d.has(PlanName); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// open makes, opens and locks the directory. Its ErrLocked does not name the directory.
func (d *Dir) open() (err error) {
	if err := makeDir(d.path); err != nil {
		return err
	}
	if d.Root, err = os.OpenRoot(d.path); err != nil {
		return err
	}
	if err = d.ownDirs(workDirs...); err == nil {
		if err = d.Mkdir(WorkDir); err != nil {
			err = fmt.Errorf("%s: %w", d.path, err)
		}
	}
	if err == nil {
		err = d.acquire()
	}
	if err != nil {
		d.Root.Close()
	}
	return err
}

// newToken names a process, on whatever machine: no other has its token.
func newToken() string { return strings.ToLower(rand.Text()[:13]) }

// makeDir makes a directory and its missing parents, and makes their names durable.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(filepath.Clean(dir))
	if err := makeDir(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return files.SyncDir(nil, parent)
}

// ownDirs refuses a link or a file where this program makes a directory. It removes and replaces files in these
// directories, and a link would lead it to files of others.
func (d *Dir) ownDirs(names ...string) error {
	return only(d, true, "a link or another thing that is not a directory", names...)
}

// noDirectory refuses a directory in the place of a file: no file can be given its name.
func (d *Dir) noDirectory(name string) error {
	return only(d, false, "a directory in the place of a file", name)
}

func only(d *Dir, dirs bool, other string, names ...string) error {
	for _, name := range names {
		st, err := d.Lookup(name)
		if err == nil && st != nil && st.IsDir() != dirs {
			err = fmt.Errorf("%s: %w: %s; move it away", d.Path(name), converters.ErrUnsupported, other)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// closeTemps closes the directory of temporary files; the next one opens it again.
func closeTemps(d *Dir) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.temps != nil {
		d.temps.Close()
	}
	d.temps = nil
}

// Close unlocks the directory. One in which nothing was begun is left as it was found, unless it is shared. A scratch is
// removed.
func (d *Dir) Close() error {
	if d.token == "" {
		return d.Root.Close()
	}
	closeTemps(d)
	if d.scratch {
		err := errors.Join(d.empty(), d.Remove(LockName), d.Remove(WorkDir), d.release(), d.Root.Close())
		if gone := os.Remove(d.path); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return err
	}
	d.Root.RemoveAll(d.Temp(""))
	if !d.began && !d.shared {
		for _, name := range []string{TmpDir, RunningDir, LockName, WorkDir} {
			d.Root.Remove(name)
		}
		if d.created && d.Here(nil) == nil {
			os.Remove(d.path)
		}
	}
	return errors.Join(d.release(), d.Root.Close())
}

// Here returns [ErrMoved] if the path of the directory no longer leads to it, since that explains any other failure,
// else err. Files were written to the directory that was opened, under whatever name it has now. A canceled context
// and ErrMoved itself are returned unchanged.
func (d *Dir) Here(err error) error {
	if errors.Is(err, ErrMoved) || errors.Is(err, context.Canceled) {
		return err
	}
	opened, err1 := d.Root.Stat(".")
	named, err2 := os.Stat(d.path)
	switch {
	case errors.Is(err2, fs.ErrNotExist), err1 == nil && err2 == nil && !os.SameFile(opened, named):
		return fmt.Errorf("%s: %w", d.path, ErrMoved)
	case err != nil:
		return err
	}
	return errors.Join(err1, err2)
}

// Path returns the path of a file, for code that opens by path.
func (d *Dir) Path(name string) string { return filepath.Join(d.path, name) }

// Temp is the temporary name of a file, which is this process's alone; of "", the directory of them all.
func (d *Dir) Temp(name string) string { return tmpOf(d.token, name) }

func tmpOf(token, name string) string {
	if name == "" {
		return path.Join(TmpDir, token)
	}
	return path.Join(TmpDir, token, path.Base(name)+".tmp")
}

// Create makes the temporary file of a file of the directory.
func (d *Dir) Create(name string) (f *files.Temp, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.temps == nil {
		if err = d.Mkdir(d.Temp("")); err == nil {
			d.temps, err = d.Root.OpenRoot(d.Temp(""))
		}
	}
	if err == nil {
		f, err = files.Create(d.temps, path.Base(d.Temp(name)))
	}
	if err == nil {
		f.To, f.From = d.Root, d.Temp(name)
	}
	return f, err
}

// Lookup describes a file of the directory; nil: there is none of that name.
func (d *Dir) Lookup(name string) (fs.FileInfo, error) {
	st, err := d.Root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return st, err
}

// has reports whether there is a file of that name.
func (d *Dir) has(name string) (bool, error) {
	st, err := d.Lookup(name)
	return st != nil, err
}

// Remove removes a file. That there is none of that name is no error.
func (d *Dir) Remove(name string) error {
	if err := d.Root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Mkdir makes a directory and its parents, where there are none.
func (d *Dir) Mkdir(name string) error { return d.Root.MkdirAll(name, 0o755) }

// SyncNames makes the names in directories durable, at once so that the file system commits them together.
func (d *Dir) SyncNames(dirs ...string) error {
	var g errgroup.Group
	for _, dir := range dirs {
		g.Go(func() error { return files.SyncDir(d.Root, dir) })
	}
	return g.Wait()
}

// OpenFile opens a regular file for reading and writing, or makes it. A link in its place is refused.
func (d *Dir) OpenFile(name string) (*os.File, error) {
	return openRegular(d.Root, name, os.O_RDWR|os.O_CREATE|syscall.O_NONBLOCK)
}

// ReadFile reads a regular file whole, of at most 1 GiB. A link in its place is refused.
func (d *Dir) ReadFile(name string) ([]byte, error) { return readKept(d.Root, name) }

// RemoveStale removes the temporary files of processes that were killed. It does so only if the lock proves that no
// other process writes here.
func (d *Dir) RemoveStale() error {
	if d.lock == nil || d.shared {
		return nil
	}
	return d.Root.RemoveAll(TmpDir)
}
