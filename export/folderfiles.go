package export

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"sync/atomic"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/verify"
)

// A fileMaker writes files. It is for one goroutine.
type fileMaker struct {
	*folderWriter
	tmp string // name of its temporary file
	dir string // the directory made last
}

// makers is the number of fileMakers in the process.
var makers atomic.Int64

// write writes a file under a temporary name and renames it. It keeps a file of an interrupted run that has the same
// content.
func (f *fileMaker) write(_ context.Context, name string, content []byte) error {
	if f.resumed {
		if same, err := f.holds(name, content); same || err != nil {
			return err
		}
	} else if st, err := f.Lookup(name); err != nil {
		return err
	} else if st != nil {
		return f.occupied(name, "another program has made it meanwhile")
	}
	if dir := path.Dir(name); dir != f.dir {
		if err := f.Root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		f.dir = dir
	}
	if f.tmp == "" {
		f.tmp = f.Temp(fmt.Sprint("file", makers.Add(1)))
	}
	file, err := files.Blocking(f.Root.OpenFile(f.tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644))
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err := errors.Join(err, file.Close()); err != nil {
		f.Root.Remove(f.tmp)
		return err
	}
	f.written.Add(1)
	return f.Root.Rename(f.tmp, name)
}

// holds reports whether a file is there and has the content.
func (t *target) holds(name string, content []byte) (bool, error) {
	st, err := t.Lookup(name)
	if err != nil || st == nil {
		return false, err
	}
	if !st.Mode().IsRegular() {
		return false, t.occupied(name, "it is not a file; remove it")
	}
	if st.Size() != int64(len(content)) {
		return false, nil
	}
	file, err := t.Root.Open(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	buf := make([]byte, min(len(content)+1, 1<<20))
	for {
		n, err := io.ReadFull(file, buf)
		if n > len(content) || !bytes.Equal(buf[:n], content[:n]) {
			return false, nil
		}
		content = content[n:]
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return len(content) == 0, nil
		case err != nil:
			return false, err
		}
	}
}

// A comparer re-reads files. It is for one goroutine.
type comparer struct {
	*folderWriter
	reader *aio.Reader
	from   aio.Origin
}

// compare reads a synced file, and compares it with its content.
func (c *comparer) compare(ctx context.Context, name string, content []byte) error {
	res, err := verify.SumFile(ctx, c.reader, c.Root, verify.Sum{Name: name, Bytes: int64(len(content)), CRC: crc32.ChecksumIEEE(content)}, verify.Options{})
	if err == nil {
		err = res.Err()
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w", c.Path(name), err)
	}
	c.from = c.from.And(res.From)
	return err
}

func (c *comparer) close() error {
	err := c.reader.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.folderWriter.from = c.folderWriter.from.And(c.from)
	c.backend = cmp.Or(c.backend, c.reader.Stats().Backend.String())
	return err
}
