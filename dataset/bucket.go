package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/place"
)

// DoneDir has an object a shard while a dataset in an object store is not complete: the shard's line of the journal.
const DoneDir = WorkDir + "/done"

// A Bucket keeps the files of a dataset in an object store. The directory of its [Dataset] is scratch: it has the
// plan, the journal, and shards between their writing and their upload. Package dataset/bucket implements it.
// Has, Room and Put may be called concurrently.
type Bucket interface {
	// Begin puts the plan and the head of the journal, which are in the directory, where the bucket has none.
	// Another plan there is [ErrOccupied].
	Begin() error
	// Has reports whether the objects of a finished shard, its index among them, are the ones that were uploaded.
	Has(f Finished) (bool, error)
	// Room waits until the scratch has room for a shard of that many bytes, and keeps it until free is called.
	Room(ctx context.Context, bytes int64) (free func(), err error)
	// Put uploads a shard that has its name in the directory, its index, and then its line, in which it sets
	// Stored. moved is called with the bytes of the shard that the service has taken.
	Put(ctx context.Context, f *Finished, moved func(bytes int64)) error
	// Fetch brings a shard into the directory, to be read again; done removes it. fs.ErrNotExist: it is not there.
	Fetch(ctx context.Context, name string) (done func(), err error)
	// Open opens a shard or an index for single reads, and says how many bytes it has. It may be called concurrently. The
	// error is fs.ErrNotExist if it is not there. An index was compared with the manifest.
	Open(name string) (File, int64, error)
	// Save puts a file of the directory as it is.
	Save(name string) error
	// Remove removes objects. One that is not there is no error.
	Remove(names ...string) error
	// Complete puts meta.json and the journal, then the manifest, unless the bucket has these very ones, and removes
	// what only an unfinished dataset needs. If another process has put another manifest, it returns [ErrOccupied].
	Complete() error
}

// Stored is what a service said of the objects of a shard after their upload.
type Stored struct {
	Shard StoredObject `json:"shard"`
	Index StoredObject `json:"index"`
}

// A StoredObject identifies the bytes of an object.
type StoredObject struct {
	Version string `json:"version,omitempty"` // ETag or generation: changes with the bytes
	Sum     string `json:"sum,omitempty"`     // the checksum that the service compared, as in crc64nvme:8a3f…
}

// OpenScratch opens a directory below dir, a directory for scratch, as the scratch of a dataset that a bucket keeps: it makes
// and locks it, removes what killed processes have left there, and calls fill, which brings the plan, the journal and what
// else the bucket has beside the shards. url is what the dataset is called in messages. [Dir.Close] removes the directory.
func OpenScratch(dir, name, url string, fill func(*Dataset) (Bucket, error)) (*Dataset, error) {
	dir, err := scratchDir(dir)
	if err == nil {
		err = removeStale(dir)
	}
	if err != nil {
		return nil, err
	}
	d := &Dataset{Dir: &Dir{path: filepath.Join(dir, scratchPrefix+name), token: newToken(), scratch: true}, name: url}
	err = d.open()
	for range 10 {
		if !errors.Is(err, fs.ErrNotExist) { // its former user was about to remove it
			break
		}
		err = d.open()
	}
	if errors.Is(err, ErrLocked) {
		return nil, fmt.Errorf("%s: %w", url, err)
	} else if err != nil {
		return nil, scratchFault(d.path, err)
	}
	if err = d.empty(); err == nil {
		d.bucket, err = fill(d)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// scratchDir returns the directory for scratch, dir if that is not "".
func scratchDir(dir string) (string, error) {
	if strings.Contains(dir, "://") {
		return "", &place.Error{Where: dir, Off: -1, Err: errors.New("a URL in the place of a local path"), Hint: "option scratch-dir is a directory on this machine", Kind: place.Usage}
	}
	if dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", &place.Error{Where: "scratch", Off: -1, Err: err, Hint: "name a directory: option scratch-dir", Kind: place.Usage}
	}
	return filepath.Join(cache, "ffconvert", "scratch"), nil
}

// scratchFault places an error of making files in a scratch directory.
func scratchFault(dir string, err error) error {
	e := place.IOError(dir, err)
	e.Kind, e.Hint = place.IO, "option scratch-dir names another place for the scratch"
	return e
}

// Unnamed makes a file in a directory for scratch. It has no name: nothing of it is left once it is closed, or its process
// has ended.
func Unnamed(dir string) (*os.File, error) {
	dir, err := scratchDir(dir)
	if err != nil {
		return nil, err
	}
	if err := makeDir(dir); err != nil {
		return nil, scratchFault(dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, scratchFault(dir, err)
	}
	defer root.Close()
	name := "copy-" + newToken()
	f, err := files.Blocking(root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600))
	if err != nil {
		return nil, scratchFault(dir, err)
	}
	if err := root.Remove(name); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// empty removes all of the directory but its lock.
func (d *Dir) empty() error {
	for in, keep := range map[string]string{".": WorkDir, WorkDir: path.Base(LockName)} {
		names, err := readNames(d.Root, in)
		if err != nil {
			return err
		}
		for _, name := range names {
			if name != keep {
				if err := d.Root.RemoveAll(path.Join(in, name)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// scratchPrefix begins the names of scratch directories.
const scratchPrefix = "ffconvert-"

// young is how long a directory is left alone that has no lock: its process may be about to take it.
const young = time.Minute

// removeStale removes the scratch directories of processes that were killed. One that is in use, and one on a file system that
// cannot tell, stays.
func removeStale(scratch string) error {
	entries, _ := os.ReadDir(scratch) // OpenScratch reports the error
	for _, e := range entries {
		st, err := e.Info()
		if err == nil && e.IsDir() && strings.HasPrefix(e.Name(), scratchPrefix) && time.Since(st.ModTime()) > young {
			if err := removeScratch(filepath.Join(scratch, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func removeScratch(dir string) error {
	d := &Dir{path: dir, token: newToken(), scratch: true}
	var err error
	if d.Root, err = os.OpenRoot(dir); err != nil {
		return nil // gone meanwhile, or not ours
	}
	if err = d.Mkdir(WorkDir); err == nil {
		err = d.acquire()
	}
	if err != nil || d.lock == nil {
		d.Root.Close()
		if errors.Is(err, ErrLocked) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return d.Close()
}
