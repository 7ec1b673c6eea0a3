package converters

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"sync/atomic"

	"github.com/ffconvert/ffconvert/aio"
)

// An Access describes how an opened part will be read: by how many samples.
type Access int64

const (
	// Cached is the Access of a part that is read again later, as an index is: reads go through the page cache, with the
	// kernel's read-ahead.
	Cached Access = 0

	// Whole is the Access of a part that is read once, from start to end.
	Whole Access = math.MaxInt64
)

// ForRun is the Access of a run, which is read once, from its first sample on. It is read ahead, bypassing the page
// cache, unless it is short.
func ForRun(run Run) Access { return Access(run.Count) }

// Files opens the parts of a source. The zero value is ready, and may be used concurrently.
type Files struct {
	each atomic.Int64 // average bytes of a sample in the last run; 0: unknown
}

// Open opens a part as [Part.Open] does. The file must not be used concurrently.
func (o *Files) Open(p Part, how Access) (File, error) {
	if p.IsObject() {
		return aio.NewAhead(p.Copy.Object, p.Size), nil
	}
	f, err := p.open()
	if err != nil {
		return nil, err
	}
	file := File(f)
	switch {
	case how == Whole:
		file = aio.OpenStream(f, p.Size)
	case how == 1:
		aio.ReadAhead(f, false)
	case how > 1:
		size := int64(float64(o.each.Load()) * float64(how))
		file = &runFile{File: aio.OpenStream(f, min(size, p.Size)), of: o, samples: int64(how)}
	}
	if p.Copy == nil {
		file = namelessFile{file}
	}
	return p.checked(file), nil
}

// A namelessFile removes names and offsets from its errors, since [Error] has them and the file of a staged copy has
// another name than its part.
type namelessFile struct{ File }

func (f namelessFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(b, off)
	if err != nil {
		err = nameless(err)
	}
	return n, err
}

func nameless(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", e.Op, e.Err)
	}
	if e, ok := errors.AsType[*aio.ReadError](err); ok {
		return fmt.Errorf("read: %w", e.Err)
	}
	return err
}

// A runFile measures the samples of a run. Their average size limits how far the next run is read ahead.
type runFile struct {
	File
	of      *Files
	samples int64
	bytes   int64 // bytes read so far
}

func (f *runFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(b, off)
	f.bytes += int64(n)
	return n, err
}

func (f *runFile) Close() error {
	if f.bytes > 0 {
		f.of.each.Store(f.bytes / f.samples)
	}
	return f.File.Close()
}

// checked returns f, wrapped to verify the checksums if p is a staged copy that has them.
func (p Part) checked(f File) File {
	if p.Copy != nil && p.Copy.Check != nil {
		return p.Copy.Check(f)
	}
	return f
}
