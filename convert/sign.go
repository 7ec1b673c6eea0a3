package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// SignOptions say how a dataset is signed.
type SignOptions struct {
	Sign     func(manifest []byte) ([]byte, error) // as in Options
	AIO      aio.Options                           // for reading what has no SHA-256 yet
	Bucket   bucket.Options                        // of a dataset in an object store
	Progress plan.Progress                         // may be nil
}

// Sign signs the manifest of a finished dataset, in place of a signature that is there. If the manifest has no SHA-256
// of the files it reads and compares them all, and writes the manifest anew with these; summed reports that.
func Sign(ctx context.Context, dir string, opts SignOptions) (m *dataset.Manifest, summed bool, err error) {
	out, err := opts.open(ctx, dir)
	if err != nil {
		return nil, false, err
	}
	out.Sign = opts.Sign
	m, summed, err = out.SignManifest(ctx, opts.AIO, opts.Progress)
	return m, summed, closeOutput(out.Task, err)
}

func (o *SignOptions) open(ctx context.Context, dir string) (*dataset.Writing, error) {
	if IsURL(dir) {
		return bucket.Open(ctx, dir, o.Bucket)
	}
	if err := dataset.CheckPath(dir); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dir, input.ErrNotFound)
	}
	if _, err := os.Lstat(filepath.Join(dir, dataset.ManifestName)); errors.Is(err, fs.ErrNotExist) { // Open would make it
		return nil, fmt.Errorf("%s: there is no %s: %w", dir, dataset.ManifestName, dataset.ErrUnfinished)
	}
	return dataset.Open(dir)
}
