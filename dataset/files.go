package dataset

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/verify"
)

// maxKept bounds the files that are read whole, in bytes: a manifest with a million sources takes about 300 MB.
const maxKept = 1 << 30

// unhurried makes an open return at once: files in a directory may be hostile, and a FIFO would be waited for.
const unhurried = os.O_RDONLY | syscall.O_NONBLOCK

// openKept opens a file that a conversion has left. A link in its place is refused, wherever it leads. Without a root, nil,
// name is any path.
func openKept(root *os.Root, name string) (*os.File, error) {
	return openRegular(root, name, unhurried)
}

// openRegular refuses a link, too, because os.Root follows links that stay inside, whatever the flags say.
func openRegular(root *os.Root, name string, flags int) (*os.File, error) {
	stat, open, at := os.Lstat, os.OpenFile, name
	if root != nil {
		stat, open, at = root.Lstat, root.OpenFile, filepath.Join(root.Name(), name)
	}
	st, err := stat(name)
	if err := notRegular(at, st, err); err != nil && (flags&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	f, err := open(name, flags, 0o644)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, &fs.PathError{Op: "open", Path: at, Err: e.Err} // an [os.Root] leaves the path of the directory out
	}
	if err != nil {
		return nil, err
	}
	st, err = f.Stat()
	if err := notRegular(at, st, err); err != nil {
		f.Close()
		return nil, err
	}
	return files.Blocking(f, nil)
}

// notRegular refuses what a stat found, unless it is a regular file; err is the error of the stat.
func notRegular(name string, st fs.FileInfo, err error) error {
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w: not a regular file; remove it", name, converters.ErrUnsupported)
	}
	return err
}

// readKept reads such a file whole, at the size it has when it is opened: a journal may grow. One that
// is larger than maxKept is [converters.ErrLimit]. It takes the memory of the file, once.
func readKept(root *os.Root, name string) ([]byte, error) { return readUpTo(root, name, maxKept) }

// readUpTo is readKept with another limit.
func readUpTo(root *os.Root, name string, most int64) ([]byte, error) {
	f, err := openKept(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readWhole(f, most)
}

func readWhole(f *os.File, most int64) ([]byte, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() > most {
		return nil, fmt.Errorf("%s: %w: it has more than %d bytes", f.Name(), converters.ErrLimit, most)
	}
	data := make([]byte, st.Size())
	n, err := io.ReadFull(f, data)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil // it became shorter
	}
	return data[:n], err
}

// writeBeside makes the file name of what write gives it, by way of a temporary file: the file
// is synced, read back as shards are, and compared, before it replaces an existing file. The caller syncs the directory.
func (d *Dir) writeBeside(name string, write func(io.Writer) error) error {
	f, err := d.Create(name)
	if err != nil {
		return err
	}
	defer f.Discard()
	sum := sumWriter{to: f}
	w := bufio.NewWriterSize(&sum, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := errors.Join(w.Flush(), f.Sync()); err != nil {
		return err
	}
	r, err := aio.NewReader(aio.Options{Backend: aio.Pread, Depth: 2})
	if err != nil {
		return err
	}
	_, err = ReadBack(context.Background(), r, f, verify.Sum{Name: name, Bytes: sum.Bytes, CRC: sum.CRC}, verify.Options{})
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	return f.Replace(name)
}

// WriteFile makes a file of data. It is synced and read back before it takes the place of an existing file, and then its name
// is synced.
func (d *Dir) WriteFile(name string, data []byte) error {
	err := d.writeBeside(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	return d.SyncNames(path.Dir(name))
}

// ReadBack reads a synced file, and compares it with the sum of its writing. want.Name is what errors call it.
func ReadBack(ctx context.Context, r *aio.Reader, f *files.Temp, want verify.Sum, opts verify.Options) (verify.Result, error) {
	name := want.Name
	want.Name = f.Tmp
	res, err := verify.SumFile(ctx, r, f.Dir, want, opts)
	if err != nil {
		return res, err
	}
	for i := range res.Problems {
		res.Problems[i].Shard = name
	}
	return res, res.Err()
}

// A sumWriter sums up the bytes that it passes on.
type sumWriter struct {
	to io.Writer
	FileSum
}

func (w *sumWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.Bytes += int64(n)
	w.CRC = crc32.Update(w.CRC, crc32.IEEETable, p[:n])
	return n, err
}
