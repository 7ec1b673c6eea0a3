package direct

import (
	"errors"
	"io/fs"
	"os"

	"github.com/ffconvert/ffconvert/internal/files"
)

// syncEach syncs each file and directory below root.
func syncEach(root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return files.SyncDir(root, name)
		}
		f, err := root.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}
