package dataset

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/ffconvert/ffconvert/internal/blocking"
)

// A File is open for reading. Its ReadAt may be called concurrently.
type File interface {
	io.ReaderAt
	io.Closer
}

// OpenPath opens a shard or an index by its path, which [Output.Path] returns, and says how many bytes it has. Of what a
// bucket keeps, a shard is read by ranges when it is asked for, and an index is fetched.
func (o *Output) OpenPath(path string) (File, int64, error) {
	if o.bucket != nil {
		return o.bucket.Open(filepath.ToSlash(strings.TrimPrefix(path, o.dir+string(filepath.Separator))))
	}
	f, err := blocking.File(openPath(path))
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, st.Size(), nil
}
