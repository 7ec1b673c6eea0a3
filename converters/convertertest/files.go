package convertertest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// Parts returns parts with the current sizes and times of files. Their names are the base names.
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

// An Opener opens a part, as converters.Files.Open does.
type Opener = func(converters.Part, converters.Access) (converters.File, error)

type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }

// Memory returns a file with these bytes.
func Memory(data []byte) converters.File { return memoryFile{bytes.NewReader(data)} }

// InMemory returns parts with these contents and the Opener of them. The parts are named part-0 and
// so on, with the extension.
func InMemory(ext string, contents ...[]byte) ([]converters.Part, Opener) {
	parts := make([]converters.Part, len(contents))
	byName := make(map[string][]byte)
	for i, b := range contents {
		name := fmt.Sprintf("part-%d%s", i, ext)
		parts[i] = converters.Part{Name: name, Path: name, Size: int64(len(b))}
		byName[name] = b
	}
	return parts, func(p converters.Part, _ converters.Access) (converters.File, error) {
		return Memory(byName[p.Name]), nil
	}
}

// Usage counts what a source does with its files: bytes read, and calls.
type Usage struct{ Read, Reads, Opened, Closed atomic.Int64 }

// Count returns an Opener that counts how its files are used.
func Count(open Opener) (Opener, *Usage) {
	use := new(Usage)
	return func(p converters.Part, how converters.Access) (converters.File, error) {
		f, err := open(p, how)
		if err != nil {
			return nil, err
		}
		use.Opened.Add(1)
		return countedFile{f, use}, nil
	}, use
}

type countedFile struct {
	converters.File
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

// FailReads calls run repeatedly. In the first call the first read of a file fails, in the second call the second one,
// until a call has no read that fails. run must pass the source's Opener through wrap, and must return an error if a
// read failed. FailReads fails if fewer than least reads were made.
func FailReads(t *testing.T, least int, run func(wrap func(Opener) Opener) error) {
	t.Helper()
	for k := 0; ; k++ {
		left := k
		err := run(func(open Opener) Opener {
			return func(p converters.Part, how converters.Access) (converters.File, error) {
				f, err := open(p, how)
				return failing{f, &left}, err
			}
		})
		if err != nil {
			continue
		}
		if left < 0 {
			t.Errorf("read %d failed, and no error was returned", k)
		}
		if k < least {
			t.Errorf("only %d reads", k)
		}
		return
	}
}

// A failing file fails the read that finds *left at 0, and all later ones, after half of the bytes. Each read
// decrements *left.
type failing struct {
	converters.File
	left *int
}

func (f failing) ReadAt(b []byte, off int64) (int, error) {
	if *f.left--; *f.left < 0 {
		return len(b) / 2, io.ErrNoProgress
	}
	return f.File.ReadAt(b, off)
}

// Refused returns a source that could not be opened, with err, which Index must return.
func Refused(parts []converters.Part, err error) converters.Source { return refused{parts, err} }

type refused struct {
	parts []converters.Part
	err   error
}

func (r refused) Parts() []converters.Part { return r.parts }

func (r refused) Index(context.Context, int) iter.Seq2[*converters.Span, error] {
	return func(yield func(*converters.Span, error) bool) { yield(nil, r.err) }
}

func (r refused) Read(context.Context, converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) { yield(nil, r.err) }
}
