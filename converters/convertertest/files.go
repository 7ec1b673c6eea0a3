package convertertest

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// Parts describes files as they are now, each by the last element of its path.
func Parts(t testing.TB, paths ...string) (parts []converters.Part) {
	t.Helper()
	for _, path := range paths {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, converters.Part{Name: filepath.Base(path), Path: path, Size: st.Size(), ModTime: st.ModTime()})
	}
	return parts
}

// A File is what a source reads a part through.
type File interface {
	io.ReaderAt
	io.Closer
}

type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }

// Memory is a file of these bytes.
func Memory(data []byte) File { return memoryFile{bytes.NewReader(data)} }

// Usage counts what a source does with its files: bytes read, and calls.
type Usage struct{ Read, Reads, Opened, Closed atomic.Int64 }

// Count makes the function that a source opens parts by count. F is an interface.
func Count[F File](open func(converters.Part, converters.Access) (F, error)) (func(converters.Part, converters.Access) (F, error), *Usage) {
	use := new(Usage)
	return func(p converters.Part, how converters.Access) (f F, err error) {
		opened, err := open(p, how)
		if err != nil {
			return f, err
		}
		use.Opened.Add(1)
		return any(countedFile{opened, use}).(F), nil
	}, use
}

type countedFile struct {
	File
	use *Usage
}

func (f countedFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(b, off)
	f.use.Read.Add(int64(n))
	f.use.Reads.Add(1)
	return n, err
}

func (f countedFile) Close() error {
	f.use.Closed.Add(1)
	return f.File.Close()
}

// Failing is a file whose reads fail from the one on that finds *left at 0: half of what is wanted
// is read. Each read takes 1 from *left, which is negative once one has failed.
func Failing(f File, left *int) File { return failing{f, left} }

type failing struct {
	File
	left *int
}

func (f failing) ReadAt(b []byte, off int64) (int, error) {
	if *f.left--; *f.left < 0 {
		return len(b) / 2, io.ErrNoProgress
	}
	return f.File.ReadAt(b, off)
}
