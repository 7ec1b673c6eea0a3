package export

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"sync"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// there is what a directory has before an export: the paths that no file of the export was found to have. The zero value is empty.
type there struct {
	mu    sync.Mutex
	other error           // the first file with other content
	paths map[string]bool // nil: the directory is empty, or an export was begun in it
}

// remove removes a path and the directories that it is in.
func (t *there) remove(name string) {
	if t.paths == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for ; name != "."; name = path.Dir(name) {
		delete(t.paths, name)
	}
}

// look finds what is in the directory, unless this export was begun there.
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
		case w.opts.Ordinal && !d.IsDir() && !numbered.MatchString(name):
			return w.occupied(name, otherTarget)
		}
		if w.there.paths == nil {
			w.there.paths = make(map[string]bool)
		}
		w.there.paths[name] = true
		return nil
	})
}

// numbered matches the files of samples whose numbers are their keys.
var numbered = regexp.MustCompile(`(^|/)[0-9]{9,}\.[^/]*$`)

const otherTarget = "name an empty directory, or one that does not exist"

// unknown refuses the directory if it has something that is not of the export.
func (w *folderWriter) unknown() error {
	for _, class := range w.layout.classes {
		w.there.remove(class)
	}
	left := slices.Sorted(maps.Keys(w.there.paths))
	switch {
	case len(left) == 0:
		return nil
	case w.there.paths[dataset.ManifestName]:
		return w.occupied(dataset.ManifestName, datasetThere)
	}
	return w.occupied(left[0], otherTarget)
}

// compareThere refuses a directory that has other files than this export's, or other content in them. One that has files of this
// export alone is written to as if that had been interrupted.
func (w *folderWriter) compareThere(ctx context.Context) error {
	if w.there.paths == nil {
		return nil
	}
	if !w.opts.Ordinal { // else only the visit knows names
		if err := w.unknown(); err != nil {
			return err
		}
	}
	progress := plan.StartPhase(w.opts.Progress, "verify", w.bytes)
	err := w.each(ctx, progress, func() (visit, func() error, error) {
		return w.compareOne, func() error { return nil }, nil
	})
	if err := cmp.Or(w.there.other, err); err != nil { // the former without the place of the sample
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
		w.there.mu.Lock()
		w.there.other = cmp.Or(w.there.other, err)
		w.there.mu.Unlock()
	}
	w.there.remove(name)
	return err
}
