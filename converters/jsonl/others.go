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

// others finds the files of a directory that no line names. It takes some 20 bytes of memory for each file that a line
// names.
type others struct{ named map[uint64]struct{} }

func (o *others) add(path string) { o.named[xxhash.Sum64String(path)] = struct{}{} }

// each calls f for each unnamed file below the directory, in the order of their paths, with the reason for skipping it.
// It ignores a directory with another metadata.jsonl: that is another part, or not in this dataset.
func (o *others) each(ctx context.Context, d *folder, root *os.Root, f func(name, skip string) bool) error {
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
		if _, ok := o.named[xxhash.Sum64String(name)]; !ok && !f(name, skip) {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.SkipAll) {
		return &converters.Error{Where: d.meta.Name, Off: -1, Err: err}
	}
	return nil
}
