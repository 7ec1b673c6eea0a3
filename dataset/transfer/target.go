package transfer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
)

// A target is the destination of a copy. A directory is locked. An object store has no locks: two copies of one dataset
// put the same objects, and a copy of another dataset fails when it finds the mark. If both start at the same moment, the
// second to finish fails, since the manifest is put only if there is none.
type target struct {
	site
	locked *lockedDir // the directory; nil: an object store
	back   bool       // read uploads back and compare them
	warn   func(string)
	state  state
}

// A state is what a destination contains before the copy.
type state int

const (
	isEmpty state = iota
	isBegun       // an unfinished copy of this manifest
	isWhole       // the same dataset, with its manifest
	isOther       // another dataset, which the copy replaces
)

func openTarget(ctx context.Context, to string, opts Options) (*target, error) {
	t := &target{back: opts.Bucket.ReadBack, warn: opts.Bucket.Warn}
	if t.warn == nil {
		t.warn = func(string) {}
	}
	var err error
	if isURL(to) {
		err = bucket.Check(to)
		t.site = objectStore(to, opts.Bucket.Client)
	} else if t.locked, err = openDir(to, opts); err == nil {
		t.site = directory(&store.Dir{Root: t.locked.out.Root})
	}
	if err == nil {
		err = t.list(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

func (t *target) close() error {
	if t.locked == nil {
		return nil
	}
	return t.locked.close()
}

// list enters the files of the destination, and records unfinished uploads.
func (t *target) list(ctx context.Context) error {
	if t.locked != nil {
		if err := t.locked.out.RemoveStale(); err != nil {
			return err
		}
	}
	return t.Look(ctx, func(name string) bool {
		return t.locked == nil || strings.Count(name, "/") < 2 && name != dataset.LockName
	}, isNamed)
}

// text reads a small file; nil if it does not exist.
func (t *target) text(ctx context.Context, name string) ([]byte, error) {
	o, ok := t.Object(name)
	if !ok {
		return nil, nil
	}
	return t.readObject(ctx, o)
}

// statNamed looks up the files of the copied dataset, and of the dataset in the destination by its manifest or its plan.
func (t *target) statNamed(ctx context.Context, j *job, manifest []byte) error {
	if err := t.StatUnknown(ctx, j.m.Files()); err != nil {
		return err
	}
	m, err := dataset.DecodeManifest(manifest)
	var plan []byte
	if err != nil {
		if plan, err = t.text(ctx, dataset.PlanName); err != nil {
			return err
		}
		m = nil
	}
	return bucket.StatNamed(ctx, t.Listing, m, plan)
}

// look sets t.state. It returns an error if the destination contains something that the copy must not replace.
func (t *target) look(ctx context.Context, j *job) error {
	if t.locked == nil {
		if err := t.StatUnknown(ctx, bucket.Fixed()); err != nil {
			return err
		}
	}
	manifest, err := t.text(ctx, dataset.ManifestName)
	if err != nil {
		return err
	}
	mark, err := t.text(ctx, dataset.CopyName)
	if err != nil {
		return err
	}
	if _, planned := t.Object(dataset.PlanName); t.locked == nil && (manifest != nil || mark != nil || planned) { // without these there is no dataset and no copy
		if err := t.statNamed(ctx, j, manifest); err != nil {
			return err
		}
	}
	var names []string
	other := ""
	for _, name := range t.Names("") {
		if isNamed(name) || isShard(name) {
			names = append(names, name)
		} else {
			other = cmp.Or(other, name)
		}
	}
	if other != "" && manifest == nil && mark == nil && t.locked == nil { // [dataset.CheckDir] has examined a directory
		return fmt.Errorf("%s: %w", t.name, dataset.ErrNotEmpty)
	}
	t.state, err = j.classify(t.name, manifest, mark, names)
	return err
}

// classify returns the state of a destination with a manifest, a mark and files of some names.
func (j *job) classify(where string, manifest, mark []byte, names []string) (state, error) {
	is := isOther
	switch {
	case manifest != nil && j.same(manifest):
		is = isWhole
	case manifest == nil && string(bytes.TrimSpace(mark)) == j.mark:
		is = isBegun
	case manifest == nil && mark == nil && len(names) == 0:
		return isEmpty, nil
	case !j.opts.Overwrite:
		return 0, &place.Error{Where: where, Off: -1, Err: dataset.ErrOccupied, Hint: "option overwrite replaces it", Kind: place.Usage}
	}
	named := j.named()
	for _, name := range names {
		if isShard(name) && !named[name] && (is != isOther || !isNamed(name)) {
			return 0, fmt.Errorf("%s: %w: %s is of no dataset that is known; move it away", where, dataset.ErrOccupied, name)
		}
	}
	return is, nil
}

// begin removes the signature and the manifest, and puts the mark. The first change of the destination follows it.
func (t *target) begin(ctx context.Context, j *job) error {
	for _, name := range []string{dataset.SignatureName, dataset.ManifestName} {
		if err := t.Drop(ctx, name); err != nil {
			return err
		}
	}
	if t.locked != nil {
		if err := files.SyncDir(t.locked.out.Root, "."); err != nil {
			return err
		}
		if err := t.locked.out.Mkdir(dataset.IndexDir); err != nil {
			return err
		}
	}
	_, err := t.save(ctx, dataset.CopyName, []byte(j.mark+"\n"))
	return err
}

// save puts a small file unless the destination has one with the same bytes; if text is nil it removes the file. It
// reports whether it has changed the destination.
func (t *target) save(ctx context.Context, name string, text []byte) (bool, error) {
	if text == nil {
		_, exists := t.Object(name)
		return exists, t.Drop(ctx, name)
	}
	if old, err := t.text(ctx, name); err != nil || old != nil && bytes.Equal(old, text) {
		return false, err
	}
	return true, t.upload(ctx, name, text, false)
}

func (t *target) upload(ctx context.Context, name string, text []byte, isNew bool) error {
	if t.locked == nil {
		_, err := t.Upload(ctx, name, &store.Upload{From: bytes.NewReader(text), Size: int64(len(text)), New: isNew})
		return err
	}
	if err := t.locked.out.WriteFile(name, text); err != nil {
		return err
	}
	o, err := t.Stat(ctx, name)
	t.Enter(name, o)
	return err
}

// finish removes the files of another dataset, puts the signature and the manifest, and removes the mark.
func (t *target) finish(ctx context.Context, j *job) error {
	if t.locked == nil || t.state == isOther {
		if err := t.clear(ctx, j); err != nil {
			return err
		}
	}
	if t.locked != nil {
		if err := t.locked.out.Here(nil); err != nil {
			return err
		}
	}
	if err := j.save(ctx, dataset.SignatureName, j.sign); err != nil {
		return err
	}
	old, err := t.text(ctx, dataset.ManifestName)
	if err != nil {
		return err
	}
	if old == nil {
		j.small = append(j.small, dataset.ManifestName)
		err = t.upload(ctx, dataset.ManifestName, j.text, true)
		if errors.Is(err, store.ErrExists) {
			err = t.same(ctx, j)
		}
	} else if !bytes.Equal(old, j.text) { // another manifest of the same dataset
		err = j.save(ctx, dataset.ManifestName, j.text)
	}
	if err != nil {
		return err
	}
	if t.locked == nil {
		t.tidy(ctx)
		return nil
	}
	if err := t.locked.out.Root.RemoveAll(dataset.TmpDir); err != nil {
		return err
	}
	return errors.Join(t.locked.out.Remove(dataset.CopyName), t.locked.out.Here(nil))
}

// tidy removes the mark and unfinished uploads. The copy is complete, so an error is a warning.
func (t *target) tidy(ctx context.Context) {
	err := t.Drop(ctx, dataset.CopyName)
	if o, late := t.Stat(ctx, t.Base+dataset.CopyName); err == nil && late == nil { // the reply to the removal was wrong
		err = t.Remove(ctx, o)
	}
	if err != nil {
		t.warn(fmt.Sprintf("%s: the copy is complete; %s, which it no longer needs, was not removed: %v", t.name, dataset.CopyName, err))
	}
	t.DropBegun(ctx, t.warn)
}

// same returns an error unless the manifest that another process has put describes the same files.
func (t *target) same(ctx context.Context, j *job) error {
	o, err := t.Stat(ctx, t.Base+dataset.ManifestName)
	if err != nil {
		return err
	}
	text, err := t.readObject(ctx, o)
	if err == nil && !j.same(text) {
		err = fmt.Errorf("%s: %w: another process has put it there meanwhile", t.name, dataset.ErrOccupied)
	}
	return err
}

// clear removes the files of the previous dataset, or of an unfinished conversion.
func (t *target) clear(ctx context.Context, j *job) error {
	named := j.named()
	var old []string
	for _, name := range t.Names("") {
		if isNamed(name) && !named[name] && !slices.Contains(small, name) && name != dataset.CopyName && name != dataset.ManifestName && name != dataset.SignatureName {
			old = append(old, name)
		}
	}
	slices.Sort(old)
	for _, name := range old {
		if err := t.Drop(ctx, name); err != nil {
			return err
		}
	}
	if t.locked == nil {
		return nil
	}
	for _, dir := range []string{dataset.JournalsDir, dataset.RunningDir, dataset.IndexedDir} {
		if err := t.locked.out.Root.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}
