package cached

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
)

// Options say where and how samples are kept.
type Options struct {
	Dir   string       // the cache
	Size  int64        // most bytes of shards in it, of all datasets; 0: as many as there is room for
	Store store.Store  // reads the objects
	Warn  func(string) // is told what is not kept, concurrently; nil: nobody

	memory int64 // of samples that were fetched ahead; 0: aheadMemory
}

const datasetsDir = "datasets" // in a cache

// maxManifest is the largest manifest that is fetched, in bytes.
const maxManifest = 1 << 30

// A dir is the directory of a dataset in a cache.
type dir struct {
	path     string
	root     *os.Root // of path
	url      string   // of the dataset, with a slash at its end
	manifest *dataset.Manifest
	opts     Options
	fetched  atomic.Int64 // bytes of shards that came from the object store
	toCome   atomic.Int64 // bytes of headers that are not here yet, for which the disk must have room
	counted  atomic.Bool  // this server has counted what the cache keeps
}

// baseOf returns the URL of a dataset with one slash at its end.
func baseOf(url string) string { return strings.TrimRight(url, "/") + "/" }

func newDir(base string, opts Options) *dir {
	if opts.Warn == nil {
		opts.Warn = func(string) {}
	}
	return &dir{url: base, opts: opts}
}

// find fetches the manifest of the dataset at url, and makes the directory for it.
func find(ctx context.Context, url string, opts Options) (*dir, error) {
	base := baseOf(url)
	where := store.Redact(base + dataset.ManifestName)
	d := newDir(base, opts)
	var data []byte
	err := d.again(ctx, func() error {
		o, err := opts.Store.Stat(ctx, base+dataset.ManifestName)
		if err == nil && (o.Size < 0 || o.Size > maxManifest) {
			err = &place.Error{Where: where, Off: -1, Err: fmt.Errorf("it has %d bytes, want 0 to %d", o.Size, int64(maxManifest))}
		}
		if err != nil {
			return err
		}
		data = make([]byte, o.Size)
		if err := opts.Store.Read(ctx, o, data, 0); err != nil {
			return err
		}
		d.manifest, err = dataset.ParseManifest(where, data)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil, &place.Error{Where: store.Redact(base), Off: -1, Err: dataset.ErrUnfinished, Kind: place.Unfinished, Hint: "there is no manifest.json"}
	}
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	root, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(root, datasetsDir, fmt.Sprintf("%x", sum[:16]))
	if err = d.open(path); err == nil {
		if err = errors.Join(d.put(dataset.ManifestName, data), d.put(urlName, []byte(store.Redact(base)+"\n"))); err != nil {
			d.root.Close()
		}
	}
	return d, unwritable(path, err)
}

// unwritable says of an error what to do where this user may not write into the directory of a dataset.
func unwritable(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%s: %w: a cache is written to even where all is there: give one that this user may write to, or the folder that ffconvert copy makes", path, err)
	}
	return err
}

// open opens the directory, and makes it if it is not there.
func (d *dir) open(path string) (err error) {
	d.path = path
	if err := os.MkdirAll(filepath.Join(path, dataset.IndexDir), 0o700); err != nil {
		return err
	}
	d.root, err = os.OpenRoot(path)
	return err
}

const urlName = "url"

// create makes a new file under a temporary name.
func (d *dir) create() (*files.Temp, error) { return files.Create(d.root, "new-"+rand.Text()) }

// put writes a small file whole, unless it is there.
func (d *dir) put(name string, data []byte) error {
	if was, err := d.get(name); err == nil && bytes.Equal(was, data) {
		return nil
	}
	f, err := d.create()
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Replace(name)
}

// get reads a small file. One of another type would be waited for.
func (d *dir) get(name string) ([]byte, error) {
	if st, err := d.root.Lstat(name); err != nil || !st.Mode().IsRegular() {
		return nil, cmp.Or(err, fs.ErrInvalid)
	}
	return d.root.ReadFile(name)
}

func (d *dir) at(name string) string { return filepath.Join(d.path, filepath.FromSlash(name)) }

// side makes meta.json (shard -1) or the index of a shard be in the directory.
func (d *dir) side(ctx context.Context, shard int) error {
	name, want := dataset.MetaName, d.manifest.Meta
	if shard >= 0 {
		s := &d.manifest.Shards[shard]
		name, want = dataset.IndexName(s.Name), s.Index
	}
	sound := func(data []byte) bool {
		return int64(len(data)) == want.Bytes && crc32.ChecksumIEEE(data) == want.CRC
	}
	if data, err := d.get(name); err == nil && sound(data) {
		return nil
	}
	data := make([]byte, want.Bytes)
	err := d.read(ctx, d.object(name, want.Bytes), data, 0, func() error {
		if !sound(data) {
			return d.fail(name, -1, ErrChanged)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return d.put(name, data)
}

// object returns an object of the dataset, of which the manifest says the size.
func (d *dir) object(name string, size int64) store.Object {
	return store.Object{URL: d.url + name, Size: size}
}

// read fills p with the bytes of an object from off on, which judge finds to be sound.
func (d *dir) read(ctx context.Context, o store.Object, p []byte, off int64, judge func() error) error {
	err := d.again(ctx, func() error {
		if err := d.opts.Store.Read(ctx, o, p, off); err != nil {
			return err
		}
		return judge()
	})
	if isWrong(err) && place.KindOf(err) != place.Corrupt { // it is not there, or has another size
		err = &place.Error{Where: store.Redact(o.URL), Off: off, Err: fmt.Errorf("it %w: %w", ErrChanged, err)}
	}
	return err
}

// rereads is how often bytes are requested again that are not as the manifest says: they may be damaged on their way, or
// come from a service that does not know yet what it has.
const rereads = 8

// again calls read until it succeeds, or fails for another reason than a wrong reply.
func (d *dir) again(ctx context.Context, read func() error) error {
	pause := 5 * time.Millisecond
	for n := 0; ; n++ {
		err := read()
		if n == rereads || !isWrong(err) {
			return err
		}
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// fail places an error in an object.
func (d *dir) fail(name string, off int64, err error) error {
	return &place.Error{Where: store.Redact(d.url + name), Off: off, Err: err}
}

// isWrong reports whether an error may come from a wrong reply.
func isWrong(err error) bool {
	return place.KindOf(err) == place.Corrupt || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrChanged) || errors.Is(err, store.ErrLength)
}
