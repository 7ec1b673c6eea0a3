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
	case at != nil:
		return err
	case fi.IsDir():
		if !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if _, begun := os.Lstat(filepath.Join(path, dataset.WorkDir)); begun == nil {
			return fmt.Errorf("%s: %w", path, dataset.ErrUnfinished)
		}
		entries, unread := os.ReadDir(path)
		if unread != nil || !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), record.Ext) }) {
			return fmt.Errorf("%s: %w", path, ErrNoShards)
		}
		return err
	}
	found := format.Kinds(path)
	if !errors.Is(err, record.ErrCorrupt) || len(found) != 1 || found[0].ID == "ffrecord" {
		return err
	}
	// A damaged shard may look like text: its name decides.
	isText := !strings.HasSuffix(path, record.Ext) && slices.Contains([]string{"csv", "text", "json"}, found[0].ID)
	if !found[0].Sure && !isText {
		return err
	}
	return &converters.Error{Where: path, Off: -1, Err: fmt.Errorf("not an FFRecord file: %w %s", format.ErrAnotherKind, found[0].What), Hint: converting.HowTo(found[0], path)}
}
