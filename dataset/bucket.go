package dataset

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/internal/blocking"
	"github.com/ffconvert/ffconvert/internal/place"
)

// DoneDir has an object a shard while a dataset in an object store is not complete: the shard's line of the journal.
const DoneDir = WorkDir + "/done"

// A Bucket keeps the files of a dataset in an object store. The directory of its [Output] then is scratch: it has the
// plan, the journal, and shards between their writing and their upload. Package dataset/bucket has the one there is.
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
	// Open opens a shard or an index for single reads, and says how many bytes it has.
	Open(name string) (File, int64, error)
	// Save puts a file of the directory as it is.
	Save(name string) error
	// Remove removes objects. One that is not there is no error.
	Remove(names ...string) error
	// Complete puts meta.json and the journal, then the manifest, unless the bucket has these very ones, and removes
	// what only an unfinished dataset needs. Another manifest that has come there meanwhile is [ErrOccupied].
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

// OpenScratch opens the directory dir as the scratch of a dataset that a bucket keeps: it makes and locks it, removes
// what a killed process has left there, and calls fill, which brings the plan, the journal and what else the bucket has
// beside the shards. name is what the dataset is called in messages, its URL. shared is for one task of several, see
// [OpenShared]: each has a scratch of its own. [Output.Close] removes the directory.
func OpenScratch(dir, name string, shared bool, fill func(*Output) (Bucket, error)) (*Output, error) {
	o := &Output{dir: dir, name: name, token: NewToken()}
	err := o.openScratch()
	for range 10 {
		if !errors.Is(err, fs.ErrNotExist) { // its former user was about to remove it
			break
		}
		err = o.openScratch()
	}
	if err != nil && !errors.Is(err, ErrLocked) {
		err = scratchFault(dir, err)
	}
	if err != nil {
		return nil, err
	}
	o.Shared = shared
	if err = o.empty(); err == nil {
		if o.bucket, err = fill(o); err == nil {
			o.began, err = o.has(PlanName)
		}
	}
	if err != nil {
		return nil, errors.Join(err, o.closeScratch())
	}
	return o, nil
}

// scratchFault places an error of making files in a scratch directory.
func scratchFault(dir string, err error) error {
	e := place.IOError(dir, err)
	e.Kind, e.Hint = place.IO, "Options.Scratch names another place for the scratch"
	return e
}

// openScratch makes and locks the directory.
func (o *Output) openScratch() (err error) {
	if err := makeDir(o.dir); err != nil {
		return err
	}
	if o.Root, err = os.OpenRoot(o.dir); err != nil {
		return err
	}
	if err = o.Mkdir(WorkDir); err == nil {
		err = o.acquire()
	}
	if err != nil {
		o.Root.Close()
	}
	return err
}

// empty removes all of the directory but its lock.
func (o *Output) empty() error {
	for dir, keep := range map[string]string{".": WorkDir, WorkDir: path.Base(LockName)} {
		names, err := readNames(o.Root, dir)
		if err != nil {
			return err
		}
		for _, name := range names {
			if name != keep {
				if err := o.Root.RemoveAll(path.Join(dir, name)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// closeScratch removes the directory, and unlocks it.
func (o *Output) closeScratch() error {
	err := errors.Join(o.empty(), o.Remove(LockName), o.Remove(WorkDir), o.release(), o.Root.Close())
	if gone := o.removeDir(); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// Name is what the dataset is called in messages: its directory, or its URL.
func (o *Output) Name() string {
	if o.name != "" {
		return o.name
	}
	return o.dir
}

// InBucket reports whether a bucket keeps the dataset.
func (o *Output) InBucket() bool { return o.bucket != nil }

// origin is what files of the dataset were read from, if not from a device: the scheme of the bucket.
func (o *Output) origin(from aio.Origin) aio.Origin {
	if o.bucket == nil || from == "" {
		return from
	}
	scheme, _, _ := strings.Cut(o.name, "://")
	return aio.Origin(scheme)
}

// Room waits until there is room in the scratch of a dataset that a bucket keeps. Without a bucket there always is.
func (o *Output) Room(ctx context.Context, bytes int64) (free func(), err error) {
	if o.bucket == nil {
		return func() {}, nil
	}
	return o.bucket.Room(ctx, bytes)
}

// Deliver is called with a finished shard before its line is in the journal. Where a bucket keeps the dataset, it
// uploads the shard and its index, and removes them from the directory.
func (o *Output) Deliver(ctx context.Context, f *Finished, moved func(bytes int64)) error {
	f.At = time.Now().Unix()
	if o.bucket == nil {
		return nil
	}
	if err := o.bucket.Put(ctx, f, moved); err != nil {
		return err
	}
	return errors.Join(o.Remove(f.Name), o.Remove(IndexName(f.Name)))
}

// erase removes files, from the bucket first: what it has been told is known from the directory.
func (o *Output) erase(names ...string) error {
	if o.bucket != nil {
		if err := o.bucket.Remove(names...); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := o.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// RemoveScratch removes a scratch directory whose process has ended. One that is in use, and one on a file system that
// cannot tell, stays.
func RemoveScratch(dir string) error {
	o := &Output{dir: dir}
	var err error
	if o.Root, err = os.OpenRoot(dir); err != nil {
		return nil // gone meanwhile, or not ours
	}
	if err = o.Mkdir(WorkDir); err == nil {
		err = o.acquire()
	}
	if err != nil || o.lock == nil {
		o.Root.Close()
		if errors.Is(err, ErrLocked) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return o.closeScratch()
}

// A File is open for reading. Its ReadAt may be called concurrently.
type File interface {
	io.ReaderAt
	io.Closer
}

// OpenPath opens a shard or an index by its path, which [Output.Path] returns, and says how many bytes it has. Of what a
// bucket keeps, a shard is read by ranges when it is asked for, and an index is fetched.
func (o *Output) OpenPath(path string) (File, int64, error) {
	if o.bucket != nil {
		return o.bucket.Open(filepath.ToSlash(strings.TrimPrefix(path, o.dir+string(filepath.Separator))))
	}
	f, err := blocking.File(openPath(path))
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, st.Size(), nil
}
