package columns

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
)

// Files reads files next to a part, below its directory. It must not be used concurrently.
type Files struct {
	Part converters.Part
	root *os.Root // nil until the first file
}

const outsideHint = "embed the files: to_parquet and save_to_disk of Hugging Face's datasets do"

// open opens a file and returns its size, which must not exceed most.
func (o *Files) open(path string, most int64) (*os.File, int64, error) {
	fail := func(err error) (*os.File, int64, error) {
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			err = e.Err
		}
		err = fmt.Errorf("the file %.200q, which has its bytes: %w", path, err)
		if place.HintOf(err) == "" {
			err = place.WithHint(err, outsideHint)
		}
		return nil, 0, err
	}
	if o.Part.Copy != nil {
		return fail(fmt.Errorf("%w: files beside a part that is not local", converters.ErrUnsupported))
	}
	name := filepath.FromSlash(path)
	if !filepath.IsLocal(name) {
		return fail(fmt.Errorf("%w: it is not below the directory of the part", converters.ErrUnsupported))
	}
	if o.root == nil {
		root, err := os.OpenRoot(filepath.Dir(o.Part.Path))
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
		err = Over("max-value-size", "it has %d bytes", st.Size())
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

// Value returns the content of a file in new memory, or only its size unless load is set.
func (o *Files) Value(path string, load bool, most int64) (v converters.Value, err error) {
	f, n, err := o.open(path, most)
	if err != nil {
		return v, err
	}
	defer f.Close()
	if !load {
		return converters.Opaque(n), nil
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(f, b); err != nil {
		return v, fmt.Errorf("the file %.200q: %w: it became shorter", path, converters.ErrChanged)
	}
	return converters.Bytes(b), nil
}

// Close closes the directory.
func (o *Files) Close() {
	if o.root != nil {
		o.root.Close()
		o.root = nil
	}
}
