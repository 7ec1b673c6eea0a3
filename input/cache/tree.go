package cache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// treeSuffix ends the name of a directory that a draft stands for, in place of tempSuffix.
const treeSuffix = ".tree"

// treeName is the directory of a draft's file.
func treeName(temp string) string { return strings.TrimSuffix(temp, tempSuffix) + treeSuffix }

// Tree makes a directory in the room that is reserved for d, and returns it open, with its path.
// From now on d is but the place of that directory in the account: a file as long as the want has
// said, to which nothing is written. Whoever fills the directory keeps to that size, and closes
// the root.
//
// The directory goes with the draft: when that is discarded, when its [Hold] is released, and as
// debris of a process that was killed.
func (d *Draft) Tree() (root *os.Root, path string, err error) {
	c := d.h.c
	d.mu.Lock()
	_, err = d.file()
	d.mu.Unlock()
	if err == nil {
		err = c.injected("mkdir")
	}
	if err != nil {
		return nil, "", err
	}
	name := treeName(d.temp)
	c.mu.Lock()
	d.tree = true
	c.mu.Unlock()
	if err := c.root.Mkdir(name, 0o700); err != nil {
		return nil, "", err
	}
	if root, err = c.root.OpenRoot(name); err != nil {
		return nil, "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.primary { // it has all that it will ever have
		d.primary = false
		d.h.work--
		c.tell()
	}
	return root, filepath.Join(c.dir, name), nil
}

// removeTrees removes the directories of the hold, or that of one draft. Of a million files that
// takes its time, so nothing is locked meanwhile. What fails is tried again, and reported, when
// the drafts end.
func (h *Hold) removeTrees(only *Draft) {
	var temps []string
	h.c.mu.Lock()
	for d := range h.open {
		if d.tree && (only == nil || d == only) {
			temps = append(temps, d.temp)
		}
	}
	h.c.mu.Unlock()
	for _, temp := range temps {
		h.c.removeTree(temp)
	}
}

// removeTree removes the directory of a draft's file, if there is one.
func (c *Cache) removeTree(temp string) error {
	if err := c.injected("remove"); err != nil {
		return err
	}
	return c.root.RemoveAll(treeName(temp))
}

// removeStrayTrees removes the directories whose draft is no more, which only a power failure
// leaves: the draft is made before, and removed after them. The account is held.
func (c *Cache) removeStrayTrees() error {
	entries, err := fs.ReadDir(c.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		stem, ok := strings.CutSuffix(e.Name(), treeSuffix)
		temp := stem + tempSuffix
		if _, ours := parseName(temp); !ok || !ours || !e.IsDir() {
			continue
		}
		if _, err := c.root.Lstat(temp); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := c.removeTree(temp); err != nil {
			return err
		}
	}
	return nil
}
