package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/ffconvert/ffconvert/input"
)

// refuseInside refuses an output inside a local directory that is to be converted: the next
// run would convert its shards.
func (c *conversion) refuseInside(roots []input.Name) error {
	out, err := realPath(c.out)
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
			return fmt.Errorf("%s: it lies inside %s, which is to be converted; choose another place", c.out, r.Name)
		}
	}
	return nil
}

// isInside reports whether a path leads into a directory, or to it; also where that cannot be
// told.
func isInside(path, dir string) bool {
	path, perr := realPath(path)
	dir, derr := realPath(dir)
	rel, err := filepath.Rel(dir, path)
	return perr != nil || derr != nil || err != nil || filepath.IsLocal(rel)
}

// realPath is where a file is, or will be: its path with all links followed.
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
