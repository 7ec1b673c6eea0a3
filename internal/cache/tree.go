package cache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// treeSuffix replaces tempSuffix in the name of the directory of an unfinished file.
const treeSuffix = ".tree"

func treeName(temp string) string { return strings.TrimSuffix(temp, tempSuffix) + treeSuffix }

// Tree makes a directory in the room that is reserved for l, and returns it open, with its path. The file of
// l then stands for the directory in the account, and must not be written to. The caller
// writes at most the reserved size to the directory, and closes root.
//
// The directory is removed when the lease ends or, if the process is killed, with its unfinished file.
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
	return root, filepath.Join(c.Dir, name), err
}

// removeTree removes the directory of an unfinished file, if it has one.
func (c *Cache) removeTree(temp string) error {
	if err := c.injected("remove"); err != nil {
		return err
	}
	return c.root.RemoveAll(treeName(temp))
}

// removeStrayTrees removes directories without their file. Only a power failure leaves them: the
// file is created before its directory and removed after it. The account must be locked.
func (c *Cache) removeStrayTrees() error {
	entries, err := fs.ReadDir(c.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		stem, ok := strings.CutSuffix(e.Name(), treeSuffix)
		temp := stem + tempSuffix
		if _, named := parseName(temp); !ok || !named || !e.IsDir() {
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
