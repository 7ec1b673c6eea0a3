package lookup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/ffconvert/ffconvert/dataset"
)

// CheckKeys compares the table of keys of a dataset's directory, if there is one, with the dataset and with its checksums:
// another one is [ErrKeys]. The table is derived: a search makes one anew where it is wrong. What opts.Open opens is read again,
// twice at the most, before it is wrong.
func CheckKeys(dir string, opts Options) error {
	d, err := Open(dir, opts)
	if err != nil {
		return err
	}
	tries := 1
	if opts.Open != nil {
		tries = 3
	}
	for range tries {
		if err = d.keys.check(); !errors.Is(err, ErrKeys) {
			break
		}
	}
	return err
}

func (k *keys) check() error {
	d := k.of
	f, size, err := d.opts.open(filepath.Join(d.Dir, filepath.FromSlash(dataset.KeysName)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, errNotRegular):
		return fmt.Errorf("%w: %w", ErrKeys, errNotRegular)
	case err != nil:
		return err
	}
	defer f.Close()
	if size != pageSize*(1+pagesOf(d.Len())) {
		return ErrKeys
	}
	ahead := &readAhead{File: f, size: size}
	t := &table{file: ahead, size: size}
	err = t.load(k)
	for p := int64(0); err == nil && p < t.pages; p++ {
		err = t.read(p)
	}
	if ahead.err != nil { // not one of the table
		return ahead.err
	}
	return err
}

// A readAhead reads pages of a file one after another in larger blocks: in a bucket each takes a request.
type readAhead struct {
	dataset.File
	size int64
	off  int64 // of block
	have []byte
	err  error // the first one of dataset.File
}

const readAheadBlock = 4 << 20

// ReadAt reads a page that lies in one block.
func (r *readAhead) ReadAt(p []byte, off int64) (int, error) {
	if end := off + int64(len(p)); off < r.off || end > r.off+int64(len(r.have)) {
		n := min(readAheadBlock, r.size-off)
		if int64(cap(r.have)) < n {
			r.have = make([]byte, n)
		}
		r.off, r.have = off, r.have[:n]
		if n, err := r.File.ReadAt(r.have, off); err != nil && !(errors.Is(err, io.EOF) && n == len(r.have)) {
			r.have, r.err = r.have[:0], err
			return 0, err
		}
	}
	return copy(p, r.have[off-r.off:]), nil
}
