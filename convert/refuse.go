package convert

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

var urlStart = text.Pattern(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// IsURL reports whether a name is a URL.
func IsURL(name string) bool { return urlStart().MatchString(name) }

// LocalPath returns an error if path is a URL. The file system would accept it as a path in a directory named "s3:".
func LocalPath(path string) error {
	if !IsURL(path) {
		return nil
	}
	return fmt.Errorf("%s: a URL in the place of a local path; ffconvert copy brings a dataset here", input.Shown(path))
}

// checkOut returns an error if the output is not a local directory, or has files of another program.
func (c *Conversion) checkOut() error {
	if IsURL(c.Out) {
		return bucket.Check(c.Out) // bucket.Open checks what is there
	}
	err := dataset.CheckDir(c.Out)
	if !errors.Is(err, dataset.ErrNotEmpty) {
		return err
	}
	out, failed := os.Stat(c.Out)
	isOut := func(source string) bool {
		st, err := os.Stat(source)
		return err == nil && failed == nil && os.SameFile(st, out)
	}
	switch {
	case slices.ContainsFunc(c.Sources, isOut):
		return fmt.Errorf("%s: a source, and the output, too; name another directory", c.Out)
	case c.IntoNonempty:
		return nil
	}
	return err
}

// checkInside returns an error if the output is inside a source directory: the next run would convert its shards.
func (in *inputs) checkInside() error {
	roots := in.directories()
	if roots == nil {
		return nil
	}
	if IsURL(in.Out) {
		for _, r := range roots {
			if r.URL() != "" && strings.HasPrefix(bucket.Base(in.Out), bucket.Base(r.URL())) {
				return in.inside(r.Name)
			}
		}
		return nil
	}
	out, err := realPath(in.Out)
	if err != nil {
		return err
	}
	for _, r := range roots {
		if r.URL() != "" {
			continue
		}
		root, err := realPath(r.Path)
		if err != nil {
			return err
		}
		if rel, err := filepath.Rel(root, out); err == nil && filepath.IsLocal(rel) {
			return in.inside(r.Name)
		}
	}
	return nil
}

func (in *inputs) inside(source string) error {
	return fmt.Errorf("%s: it lies inside %s, which is to be converted; choose another place", in.Out, source)
}

// isInside reports whether path is dir or below dir. It also returns true if this cannot be decided.
func isInside(path, dir string) bool {
	path, perr := realPath(path)
	dir, derr := realPath(dir)
	rel, err := filepath.Rel(dir, path)
	return perr != nil || derr != nil || err != nil || filepath.IsLocal(rel)
}

// realPath returns the absolute path of a file that may not exist yet, with all links followed.
func realPath(name string) (string, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(name)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	parent, err := realPath(filepath.Dir(name))
	return filepath.Join(parent, filepath.Base(name)), err
}

// MoreRoomForAll is the hint of an error that the cache is too small for all parts together. A caller may replace it.
const MoreRoomForAll = "raise option cache-size"

const (
	moreRoomForOne = "raise option cache-size, or make more shards, by option shards or option shard-size, where it has several parts"
	notAligned     = "leave option whole-parts out; option exact cuts at samples"
)

// advise adds to an error, if there is one, what to do about it, with the names of options.
func advise(err error, advice string) error {
	switch {
	case err == nil:
		return nil
	case strings.HasSuffix(err.Error(), ")"):
		return place.Options("%w; %s", err, advice)
	}
	return place.Options("%w (%s)", err, advice)
}
