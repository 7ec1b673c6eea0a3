package jsonl

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/ffconvert/ffconvert/converters"
)

// others calls f for each file below the directory whose path's hash is not in named, in the order of their paths, with
// the reason for skipping it. It ignores a directory with another metadata.jsonl: that is another part, or not in this
// dataset.
func (d *folder) others(ctx context.Context, root *os.Root, named map[uint64]struct{}, f func(name, skip string) bool) error {
	tree := root.FS()
	err := fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		skip := "file that no line names"
		switch hidden := name != "." && e.Name()[0] == '.'; {
		case e.IsDir() && hidden:
			if !f(name, "hidden directory") {
				return fs.SkipAll
			}
			return fs.SkipDir
		case e.IsDir():
			if _, err := fs.Stat(tree, path.Join(name, MetadataName)); err == nil && name != "." {
				return fs.SkipDir
			}
			return nil
		case hidden:
			skip = "hidden file"
		case path.Dir(name) == "." && strings.HasPrefix(name, MetadataName):
			return nil // the metadata.jsonl itself
		}
		if _, ok := named[xxhash.Sum64String(name)]; !ok && !f(name, skip) {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.SkipAll) {
		return &converters.Error{Where: d.meta.Name, Off: -1, Err: err}
	}
	return nil
}
