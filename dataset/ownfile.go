package dataset

import (
	"io"
	"os"
)

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
