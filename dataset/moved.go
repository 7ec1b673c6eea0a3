package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ffconvert/ffconvert/internal/place"
)

// ErrMoved says that the path of an output leads to another directory than the one that was
// opened, or to none.
var ErrMoved = place.New(place.IO, "renamed, removed or replaced while it was written to; put it back, and the same command goes on")

// Here returns err, or [ErrMoved] in its place where the path of the directory does not lead to it
// any longer: whatever has failed then has failed for that. Everything was written to the directory
// that was opened, wherever it is by now. An interrupted run stays one.
func (o *Output) Here(err error) error {
	if errors.Is(err, ErrMoved) || errors.Is(err, context.Canceled) {
		return err
	}
	opened, err1 := o.Root.Stat(".")
	named, err2 := os.Stat(o.dir)
	switch {
	case errors.Is(err2, fs.ErrNotExist), err1 == nil && err2 == nil && !os.SameFile(opened, named):
		return fmt.Errorf("%s: %w", o.dir, ErrMoved)
	case err != nil:
		return err
	}
	return errors.Join(err1, err2)
}
