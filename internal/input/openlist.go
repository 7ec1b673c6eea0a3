package input

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
)

// open opens a list. The caller must call done after reading it.
func (l *lists) open(ctx context.Context, name string) (r io.Reader, done func(), err error) {
	where, shown := locate(rewrite(name, l.rules)), Shown(name)
	switch {
	case name == "":
		return nil, nil, place.Refuse("@", errList, "want @FILE", "it names no file")
	case name == "-":
		if err := l.useStdin(); err != nil {
			return nil, nil, err
		}
		r, done = l.opts.OpenStdin(ctx)
		return r, done, nil
	case where.scheme == "pipe":
		return nil, nil, place.Refuse(shown, ErrScheme, "have it write to @-", "a list that a program writes")
	}
	opts := l.opts
	opts.Directories = false // a list is a file even where directories are inputs
	if err := where.supported(shown, opts); err != nil {
		return nil, nil, err
	}
	if where.remote() {
		r, err := l.fetch(ctx, where.name, shown)
		return r, func() {}, err
	}
	return openList(shown, where.localPaths())
}

// openList opens the first of the paths that exists.
func openList(name string, paths []string) (r io.Reader, done func(), err error) {
	var f *os.File
	for _, path := range paths {
		if f, err = files.Open(path); err == nil || !isMissing(err) {
			break
		}
	}
	switch {
	case err != nil && isMissing(err):
		return nil, nil, place.Refuse(name, ErrNotFound, "@FILE is a list of names; ./@FILE is a file of that name", "")
	case err != nil:
		return nil, nil, place.IOError(name, err)
	}
	fi, err := f.Stat()
	switch {
	case err != nil:
		err = place.IOError(name, err)
	case !fi.Mode().IsRegular():
		err = place.Refuse(name, ErrNotRegular, "a list is a file, or @-", "a %s", kindOf(fi.Mode()))
	case fi.Size() > maxList:
		err = place.Refuse(name, errList, "give several", "more than %d bytes", maxList)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, func() { f.Close() }, nil
}

// fetch downloads a list into memory.
func (l *lists) fetch(ctx context.Context, url, shown string) (io.Reader, error) {
	o, err := l.opts.Remote.Stat(ctx, url)
	if err == nil && o.Size > maxList {
		return nil, place.Refuse(shown, errList, "give several", "more than %d bytes", maxList)
	}
	var m memory
	if err == nil {
		err = l.opts.Remote.Fetch(ctx, o, &m, func(int64) {})
	}
	switch {
	case err == nil:
		return bytes.NewReader(m.b), nil
	case context.Cause(ctx) != nil:
		return nil, context.Cause(ctx)
	}
	return nil, RemoteError(shown, err)
}

// memory is a [store.File] of at most maxList bytes.
type memory struct {
	mu sync.Mutex
	b  []byte
}

var _ store.File = (*memory)(nil)

func (m *memory) WriteAt(p []byte, off int64) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	end := off + int64(len(p))
	if off < 0 || off > maxList || end > maxList {
		return 0, fmt.Errorf("%w: more than %d bytes", errList, maxList)
	}
	if grow := int(end) - len(m.b); grow > 0 {
		m.b = append(m.b, make([]byte, grow)...)
	}
	return copy(m.b[off:], p), nil
}

func (m *memory) ReadAt(p []byte, off int64) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return bytes.NewReader(m.b).ReadAt(p, off)
}
