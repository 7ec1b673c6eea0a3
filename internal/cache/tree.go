package cache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// treeSuffix ends the name of a directory, in place of tempSuffix.
const treeSuffix = ".tree"

func treeName(temp string) string { return strings.TrimSuffix(temp, tempSuffix) + treeSuffix }

// Tree makes a directory in the room that is reserved for l, and returns it open, with its path. From
// now on l's file is the directory's entry in the account: nothing may be written to it. The caller
// writes at most the reserved size, and closes the root.
//
// The directory is removed when the lease ends, and after the process was killed.
func (l *Lease) Tree() (root *os.Root, path string, err error) {
	c := l.c
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err = l.file(); err == nil {
		err = c.injected("mkdir")
	}
	if err != nil {
		return nil, "", err
	}
	name := treeName(l.name)
	l.tree = true
	if err := c.root.Mkdir(name, 0o700); err != nil {
		return nil, "", err
	}
	root, err = c.root.OpenRoot(name)
	return root, filepath.Join(c.dir, name), err
}

// removeTree removes the directory of an unfinished file, if there is one.
func (c *Cache) removeTree(temp string) error {
	if err := c.injected("remove"); err != nil {
		return err
	}
	return c.root.RemoveAll(treeName(temp))
}

// removeStrayTrees removes directories without their file, which only a power failure leaves: the
// file is made before its directory and removed after it. The account is locked.
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
		if _, err := c.root.Lstat(temp); errors.Is(err, fs.ErrNotExist) {
			if err := c.removeTree(temp); err != nil {
				return err
			}
		}
	}
	return nil
}
