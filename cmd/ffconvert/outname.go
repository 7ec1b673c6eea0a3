package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/internal/text"
)

var urlStart = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// refuseURL refuses a URL where a command takes a local path: the file system would take it for the
// path of a directory named "s3:".
func refuseURL(path string) error {
	if !urlStart.MatchString(path) {
		return nil
	}
	return fmt.Errorf("%s: a URL in the place of a local path; write to a local directory and copy that", text.Line(input.Shown(path)))
}

// closeOutput ends the work on an output, which has ended with err.
func closeOutput(out *dataset.Output, err error) error {
	return errors.Join(out.Here(err), out.Close())
}

// refuseOut refuses an output that is not a local directory, or that holds files of another
// program.
func (c *conversion) refuseOut() error {
	if err := refuseURL(c.out); err != nil {
		return err
	}
	err := dataset.CheckDir(c.out)
	switch {
	case errors.Is(err, dataset.ErrNotEmpty) && c.isSource(c.out):
		return fmt.Errorf("%s: a source, and OUT, too; name another directory last", c.out)
	case errors.Is(err, dataset.ErrNotEmpty) && c.opts.intoNonempty:
		return nil
	case errors.Is(err, dataset.ErrNotDirectory):
		return fmt.Errorf("%w; OUT is the last argument", err)
	case errors.Is(err, dataset.ErrNotEmpty):
		return fmt.Errorf("%w; OUT is the last argument (--into-nonempty: put the dataset among the files there)", err)
	}
	return err
}

// isSource reports whether a path is that of a source.
func (c *conversion) isSource(path string) bool {
	out, err := os.Stat(path)
	return err == nil && slices.ContainsFunc(c.names, func(name string) bool {
		src, err := os.Stat(name)
		return err == nil && os.SameFile(src, out)
	})
}
