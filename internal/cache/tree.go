package cache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// treeSuffix ends the name of a writer's directory, in place of tempSuffix.
const treeSuffix = ".tree"

func treeName(temp string) string { return strings.TrimSuffix(temp, tempSuffix) + treeSuffix }

// Tree makes a directory in the room that is reserved for w, and returns it open, with its path. From
// now on w's file is the directory's entry in the account: nothing may be written to it. The caller
// writes at most the reserved size, and closes the root.
//
// The directory is removed with the writer: when that is discarded, when its [Lease] is released,
// and after the process was killed.
func (w *Writer) Tree() (root *os.Root, path string, err error) {
	c := w.l.c
	w.mu.Lock()
	_, err = w.file()
	w.mu.Unlock()
	if err == nil {
		err = c.injected("mkdir")
	}
	if err != nil {
		return nil, "", err
	}
	name := treeName(w.temp)
	c.mu.Lock()
	w.tree = true
	c.mu.Unlock()
	if err := c.root.Mkdir(name, 0o700); err != nil {
		return nil, "", err
	}
	root, err = c.root.OpenRoot(name)
	return root, filepath.Join(c.dir, name), err
}

// removeTrees removes the directories of the lease, or of one writer, without a lock, since that may
// take minutes. An error is ignored: the end of the writer tries again, and reports it.
func (l *Lease) removeTrees(only *Writer) {
	var temps []string
	l.c.mu.Lock()
	for w := range l.open {
		if w.tree && (only == nil || w == only) {
			temps = append(temps, w.temp)
		}
	}
	l.c.mu.Unlock()
	for _, temp := range temps {
		l.c.removeTree(temp)
	}
}

// removeTree removes the directory of a writer's file, if there is one.
func (c *Cache) removeTree(temp string) error {
	if err := c.injected("remove"); err != nil {
		return err
	}
	return c.root.RemoveAll(treeName(temp))
}

// removeStrayTrees removes directories without a writer's file, which only a power failure leaves: the
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
