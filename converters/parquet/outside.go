package parquet

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/converters"
)

// An outside reads files beside a part, below its directory. It is for one goroutine.
type outside struct {
	part converters.Part
	root *os.Root // nil until the first file
}

const outsideHint = "embed the files into the Parquet files: Dataset.to_parquet of Hugging Face's datasets does"

// open opens a file and returns its size, which must not be over a limit.
func (o *outside) open(path string, most int64) (*os.File, int64, error) {
	fail := func(err error) (*os.File, int64, error) {
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			err = e.Err
		}
		err = fmt.Errorf("the file %.200q, which has its bytes: %w", path, err)
		if _, ok := errors.AsType[*hinted](err); !ok {
			err = &hinted{err, outsideHint}
		}
		return nil, 0, err
	}
	if o.part.Copy != nil {
		return fail(fmt.Errorf("%w: files beside a part that is not local", converters.ErrUnsupported))
	}
	name := filepath.FromSlash(path)
	if !filepath.IsLocal(name) {
		return fail(fmt.Errorf("%w: it is not below the directory of the part", converters.ErrUnsupported))
	}
	if o.root == nil {
		root, err := os.OpenRoot(filepath.Dir(o.part.Path))
		if err != nil {
			return fail(err)
		}
		o.root = root
	}
	st, err := o.root.Stat(name)
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%w: not a regular file", converters.ErrUnsupported)
	}
	if err == nil && st.Size() > most {
		err = over("MaxValue", "it has %d bytes", st.Size())
	}
	if err != nil {
		return fail(err)
	}
	f, err := o.root.Open(name)
	if err != nil {
		return fail(err)
	}
	return f, st.Size(), nil
}

// size returns the size of a file.
func (o *outside) size(path string, most int64) (int64, error) {
	f, n, err := o.open(path, most)
	if err != nil {
		return 0, err
	}
	return n, f.Close()
}

// read returns the bytes of a file in new memory.
func (o *outside) read(path string, most int64) ([]byte, error) {
	f, n, err := o.open(path, most)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, n)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, fmt.Errorf("the file %.200q: %w: it became shorter", path, converters.ErrChanged)
	}
	return b, nil
}

// close closes the directory.
func (o *outside) close() {
	if o.root != nil {
		o.root.Close()
		o.root = nil
	}
}
