package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/input"
)

// Sign signs the manifest of a finished dataset by c.Options.Sign, in place of a signature that is there. If the manifest
// has no SHA-256 of the files it reads and compares them all, and writes the manifest anew with these; summed reports that.
func (c Conversion) SignManifest(ctx context.Context) (m *dataset.Manifest, summed bool, err error) {
	if err := c.checkManifest(); err != nil {
		return nil, false, err
	}
	out, err := c.openOut(ctx)
	if err != nil {
		return nil, false, err
	}
	out.Sign = c.Sign
	m, summed, err = out.SignManifest(ctx, c.AIO, c.Progress)
	return m, summed, closeOutput(out.Task, err)
}

// checkManifest returns an error if a local output has no manifest: opening it would make a directory.
func (c *Conversion) checkManifest() error {
	if IsURL(c.Out) {
		return nil
	}
	if err := dataset.CheckPath(c.Out); err != nil {
		return err
	}
	if _, err := os.Lstat(c.Out); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", c.Out, input.ErrNotFound)
	}
	if _, err := os.Lstat(filepath.Join(c.Out, dataset.ManifestName)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no %s: %w", c.Out, dataset.ManifestName, dataset.ErrUnfinished)
	}
	return nil
}
