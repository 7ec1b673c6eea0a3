package dataset

import (
	"errors"
	"io"
	"os"

	"github.com/ffconvert/ffconvert/internal/blocking"
)

// Unnamed opens a new file in a directory, which it makes where there is none. The file has no name: nothing of it is left
// once it is closed, or its process has ended.
func Unnamed(dir string) (*os.File, error) {
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name := "copy-" + NewToken()
	f, err := blocking.File(root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600))
	if err != nil {
		return nil, err
	}
	if err := root.Remove(name); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// WriteFile makes the file name of what write gives it. It is synced and read back before it takes the place of an
// existing file.
func (o *Output) WriteFile(name string, write func(io.Writer) error) error {
	if err := o.Mkdir(o.Temp("")); err != nil {
		return err
	}
	return o.writeBeside(o.Temp(name), name, write)
}

// OpenFile opens a regular file for reading and writing, or makes it. A link in its place is refused.
func (o *Output) OpenFile(name string) (*os.File, error) { return openOwn(o.Root, name) }

// ReadFile reads a regular file whole, of at most 1 GiB. A link in its place is refused.
func (o *Output) ReadFile(name string) ([]byte, error) { return readKept(o.Root, name) }

// RemoveStale removes the temporary files of processes that were killed. It does so only if the lock proves that no
// other process writes here.
func (o *Output) RemoveStale() error {
	if o.lock == nil || o.Shared {
		return nil
	}
	return o.Root.RemoveAll(TmpDir)
}
