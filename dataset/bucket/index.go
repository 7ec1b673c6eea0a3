package bucket

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path"
	"sync"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/place"
)

// indexDir has the downloaded indexes, below the scratch. A verification downloads its own.
const indexDir = "looked"

// An index is a downloaded index, a file in indexDir.
type index struct {
	download func() // once
	free     func() // removes the file; nil: download has failed
	err      error
	users    int // guarded by mirror.mu
}

// openIndex opens an index, which stays in the scratch until close is called.
func (r *mirror) openIndex(name string, want dataset.FileSum) (f *os.File, close func() error, err error) {
	r.mu.Lock()
	x := r.indexes[name]
	if x == nil {
		x = &index{}
		x.download = sync.OnceFunc(func() { x.free, x.err = r.downloadIndex(name, want) })
		r.indexes[name] = x
	}
	x.users++
	r.mu.Unlock()
	if x.download(); x.err == nil {
		f, err = r.out.Root.Open(path.Join(indexDir, path.Base(name)))
	}
	if err = cmp.Or(x.err, err); err != nil {
		r.closeIndex(name, x)
		return nil, nil, err
	}
	return f, func() error { defer r.closeIndex(name, x); return f.Close() }, nil
}

// closeIndex ends a use of an index. One that nobody uses stays, unless its download has failed or its room is wanted.
func (r *mirror) closeIndex(name string, x *index) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x.users--; x.users == 0 && (x.err != nil || r.waiting.Load() > 0) {
		r.dropIndex(name, x)
	}
}

// dropIndexes removes the indexes that nobody uses.
func (r *mirror) dropIndexes() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, x := range r.indexes {
		if x.users == 0 {
			r.dropIndex(name, x)
		}
	}
}

func (r *mirror) dropIndex(name string, x *index) {
	delete(r.indexes, name)
	if x.free != nil {
		x.free()
	}
}

// rereads is how often an index is downloaded again whose bytes differ from the manifest: they may be damaged on their way.
const rereads = 4

// downloadIndex downloads an index and compares it with its checksum. free removes it.
func (r *mirror) downloadIndex(name string, want dataset.FileSum) (free func(), err error) {
	corrupt := func(err error) error {
		return &place.Error{Where: r.out.At(name), Off: -1, Err: err, Kind: place.Corrupt}
	}
	o, err := r.find(r.ctx, name)
	if err == nil && o.Size != want.Bytes {
		err = corrupt(fmt.Errorf("it has %d bytes, %d by the manifest", o.Size, want.Bytes))
	}
	if err != nil {
		return nil, err
	}
	room, err := r.Room(r.ctx, o.Size)
	if err != nil {
		return nil, err
	}
	file := path.Join(indexDir, path.Base(name))
	free = func() { r.out.Root.Remove(file); room() }
	f, err := r.create(file)
	if err != nil {
		free()
		return nil, err
	}
	defer f.Close()
	for n := 0; ; n++ {
		if err = r.download(r.ctx, o, name, f); err == nil {
			sum, end := want.Checker()
			if _, err = io.Copy(sum, io.NewSectionReader(f, 0, o.Size)); err == nil {
				if err = end(); err == nil {
					return free, nil
				}
				err = corrupt(err)
			}
		}
		if n == rereads || place.KindOf(err) != place.Corrupt {
			free()
			return nil, err
		}
	}
}
