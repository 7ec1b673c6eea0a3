package cliflag

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
)

// ErrNoShards reports a directory without shards.
var ErrNoShards = place.New(place.Refused, "holds no shards (*"+record.Ext+")")

// NotShards rewrites the error of opening shards: a path that does not exist is a missing input, a dataset without shards or a manifest
// is not finished, and a file of another kind is named, not called a damaged shard.
func NotShards(path string, err error) error {
	fi, at := os.Stat(path)
	switch {
	case errors.Is(at, os.ErrNotExist):
		return fmt.Errorf("%s: %w", path, input.ErrNotFound)
	case at == nil && fi.IsDir() && errors.Is(err, os.ErrNotExist) && isBegun(path):
		return fmt.Errorf("%s: %w", path, dataset.ErrUnfinished)
	case at == nil && fi.IsDir() && errors.Is(err, os.ErrNotExist) && !namesShards(path):
		return fmt.Errorf("%s: %w", path, ErrNoShards)
	case at != nil || fi.IsDir():
		return err
	}
	found := format.Kinds(path)
	if !errors.Is(err, record.ErrCorrupt) || len(found) != 1 || found[0].ID == "ffrecord" || !found[0].Sure && !isText(path, found[0]) {
		return err
	}
	return &converters.Error{Where: path, Off: -1, Err: fmt.Errorf("not an FFRecord file: %w %s", format.ErrAnotherKind, found[0].What), Hint: converting.HowTo(found[0], path)}
}

// isBegun reports whether a directory is of a dataset.
func isBegun(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, dataset.WorkDir))
	return err == nil
}

// namesShards reports whether a directory has a name that readers take for a shard.
func namesShards(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), record.Ext) })
}

// isText reports whether a file that is not named as a shard is text. A damaged shard may look like
// text: its name decides.
func isText(path string, k input.Kind) bool {
	return !strings.HasSuffix(path, record.Ext) && slices.Contains([]string{"csv", "text", "json"}, k.ID)
}
