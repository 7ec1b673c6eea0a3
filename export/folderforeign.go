package export

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A foreign is the content of a directory before an export: paths that are not known to be files of the export. The
// zero value is empty.
type foreign struct {
	mu    sync.Mutex
	other error           // error for the first file whose content differs
	paths map[string]bool // nil: the directory is empty, or an export was begun in it
}

// remove removes a path and its parent directories.
func (t *foreign) remove(name string) {
	if t.paths == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for ; name != "."; name = path.Dir(name) {
		delete(t.paths, name)
	}
}

// look lists the directory, unless this export was begun in it.
func (w *folderWriter) look() error {
	if w.resumed {
		return nil
	}
	return fs.WalkDir(w.Root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case name == dataset.WorkDir:
			return fs.SkipDir
		case !d.IsDir() && !d.Type().IsRegular():
			return w.occupied(name, otherTarget)
		case w.opts.Ordinal && !d.IsDir() && !numbered().MatchString(name):
			return w.occupied(name, otherTarget)
		}
		if w.foreign.paths == nil {
			w.foreign.paths = make(map[string]bool)
		}
		w.foreign.paths[name] = true
		return nil
	})
}

// numbered matches files of samples with numbers as keys.
var numbered = text.Pattern(`(^|/)[0-9]{9,}\.[^/]*$`)

const otherTarget = "name an empty directory, or one that does not exist"

// unknown returns an error if the directory has something that is not of the export.
func (w *folderWriter) unknown() error {
	for _, class := range w.layout.classes {
		w.foreign.remove(class)
	}
	left := slices.Sorted(maps.Keys(w.foreign.paths))
	switch {
	case len(left) == 0:
		return nil
	case w.foreign.paths[dataset.ManifestName]:
		return w.occupied(dataset.ManifestName, datasetThere)
	}
	return w.occupied(left[0], otherTarget)
}

// compareExisting returns an error if the directory has files that are not of this export, or that differ. If all are
// of this export, the export resumes as if it had been interrupted.
func (w *folderWriter) compareExisting(ctx context.Context) error {
	if w.foreign.paths == nil {
		return nil
	}
	if !w.opts.Ordinal { // otherwise only each knows the names
		if err := w.unknown(); err != nil {
			return err
		}
	}
	progress := plan.StartPhase(w.opts.Progress, "verify", w.bytes)
	err := w.each(ctx, progress, func() (visit, func() error, error) {
		return w.compareOne, func() error { return nil }, nil
	})
	if err := cmp.Or(w.foreign.other, err); err != nil { // w.foreign.other has no place of the sample
		return err
	}
	w.resumed = true
	return w.unknown()
}

// compareOne compares a file with its content, if it is there.
func (w *folderWriter) compareOne(_ context.Context, name string, content []byte) error {
	st, err := w.Lookup(name)
	if err != nil || st == nil {
		return err
	}
	same, err := w.holds(name, content)
	if err == nil && !same {
		err = w.occupied(name, "the export has another file by this name; "+otherTarget)
		w.foreign.mu.Lock()
		w.foreign.other = cmp.Or(w.foreign.other, err)
		w.foreign.mu.Unlock()
	}
	w.foreign.remove(name)
	return err
}
