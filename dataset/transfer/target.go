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
	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/internal/store"
)

// A target receives a dataset. A directory is locked. An object store has no locks: two copies of one dataset put the same
// objects, and a copy of another one finds its mark, unless both begin at the same moment: the manifest is only put
// where there is none.
type target struct {
	site
	own  *ownDir // if it is a directory; nil: an object store
	back bool    // uploads are read back
	warn func(string)
	is   state
}

// A state is what a destination holds.
type state int

const (
	isEmpty state = iota
	isBegun       // a copy of this manifest
	isWhole       // the same dataset, with a manifest
	isOther       // another dataset, that is to be replaced
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
	} else if t.own, err = openDir(to, opts); err == nil {
		t.site = directory(&store.Dir{Root: t.own.out.Root})
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
	if t.own == nil {
		return nil
	}
	return t.own.close()
}

// list enters what is there, and notes uploads that were not ended.
func (t *target) list(ctx context.Context) error {
	if t.own != nil {
		if err := t.own.out.RemoveStale(); err != nil {
			return err
		}
	}
	return t.Look(ctx, func(name string) bool {
		return t.own == nil || strings.Count(name, "/") < 2 && name != dataset.LockName
	}, isOurs)
}

// text reads a small file; nil: there is none.
func (t *target) text(ctx context.Context, name string) ([]byte, error) {
	o, ok := t.Object(name)
	if !ok {
		return nil, nil
	}
	return t.readObject(ctx, o)
}

// statNamed asks for the files of the dataset that is copied, and of the one there, which has the manifest or a plan.
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

// look finds out what is there, and returns an error if it must stay.
func (t *target) look(ctx context.Context, j *job) error {
	if t.own == nil {
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
	if _, planned := t.Object(dataset.PlanName); t.own == nil && (manifest != nil || mark != nil || planned) { // else a copy has put nothing there
		if err := t.statNamed(ctx, j, manifest); err != nil {
			return err
		}
	}
	var names []string
	other := ""
	for _, name := range t.Names("") {
		if isOurs(name) || isShard(name) {
			names = append(names, name)
		} else {
			other = cmp.Or(other, name)
		}
	}
	if other != "" && manifest == nil && mark == nil && t.own == nil { // of a directory [dataset.CheckDir] has looked
		return fmt.Errorf("%s: %w", t.name, dataset.ErrNotEmpty)
	}
	t.is, err = j.judge(t.name, manifest, mark, names)
	return err
}

// judge says what a destination is, by its manifest, its mark, and the names of its files.
func (j *job) judge(where string, manifest, mark []byte, names []string) (state, error) {
	is := isOther
	switch {
	case manifest != nil && j.same(manifest):
		is = isWhole
	case manifest == nil && string(bytes.TrimSpace(mark)) == j.mark:
		is = isBegun
	case manifest == nil && mark == nil && len(names) == 0:
		return isEmpty, nil
	case !j.opts.Overwrite:
		return 0, occupied(where)
	}
	mine := j.named()
	for _, name := range names {
		if isShard(name) && !mine[name] && (is != isOther || !isOurs(name)) {
			return 0, fmt.Errorf("%s: %w: %s is of no dataset that is known; move it away", where, dataset.ErrOccupied, name)
		}
	}
	return is, nil
}

// begin is called before the first change: it removes the manifest, and sets the mark.
func (t *target) begin(ctx context.Context, j *job) error {
	for _, name := range []string{dataset.SignatureName, dataset.ManifestName} {
		if err := t.Drop(ctx, name); err != nil {
			return err
		}
	}
	if t.own != nil {
		if err := atomicfile.SyncDir(t.own.out.Root, "."); err != nil {
			return err
		}
		if err := t.own.out.Mkdir(dataset.IndexDir); err != nil {
			return err
		}
	}
	_, err := t.save(ctx, dataset.CopyName, []byte(j.mark+"\n"))
	return err
}

// save puts a small file unless the destination has these bytes; without text it removes the file. It reports whether
// that changed anything.
func (t *target) save(ctx context.Context, name string, text []byte) (bool, error) {
	if text == nil {
		_, there := t.Object(name)
		return there, t.Drop(ctx, name)
	}
	if there, err := t.text(ctx, name); err != nil || there != nil && bytes.Equal(there, text) {
		return false, err
	}
	return true, t.upload(ctx, name, text, false)
}

func (t *target) upload(ctx context.Context, name string, text []byte, isNew bool) error {
	if t.own == nil {
		_, err := t.Upload(ctx, name, &store.Upload{From: bytes.NewReader(text), Size: int64(len(text)), New: isNew})
		return err
	}
	if err := t.own.out.WriteFile(name, text); err != nil {
		return err
	}
	o, err := t.Stat(ctx, name)
	t.Enter(name, o)
	return err
}

// finish removes what is of another dataset, then puts the manifest, and removes the mark.
func (t *target) finish(ctx context.Context, j *job) error {
	if t.own == nil || t.is == isOther {
		if err := t.clear(ctx, j); err != nil {
			return err
		}
	}
	if t.own != nil {
		if err := t.own.out.Here(nil); err != nil {
			return err
		}
	}
	if err := j.save(ctx, dataset.SignatureName, j.sign); err != nil {
		return err
	}
	there, err := t.text(ctx, dataset.ManifestName)
	if err != nil {
		return err
	}
	if there == nil {
		j.small = append(j.small, dataset.ManifestName)
		err = t.upload(ctx, dataset.ManifestName, j.text, true)
		if errors.Is(err, store.ErrExists) {
			err = t.same(ctx, j)
		}
	} else if !bytes.Equal(there, j.text) { // of the same dataset
		err = j.save(ctx, dataset.ManifestName, j.text)
	}
	if err != nil {
		return err
	}
	if t.own != nil {
		return t.own.tidy()
	}
	t.tidy(ctx)
	return nil
}

// tidy removes what only an unfinished copy needs. The copy is complete: what cannot be removed is said.
func (t *target) tidy(ctx context.Context) {
	err := t.Drop(ctx, dataset.CopyName)
	if o, late := t.Stat(ctx, t.Base+dataset.CopyName); err == nil && late == nil { // the reply was wrong
		err = t.Remove(ctx, o)
	}
	if err != nil {
		t.warn(fmt.Sprintf("%s: the copy is complete; %s, which it no longer needs, was not removed: %v", t.name, dataset.CopyName, err))
	}
	t.DropBegun(ctx, t.warn)
}

// same compares the manifest with one that another process has put meanwhile.
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

// clear removes what is of the dataset before, or of a conversion that was under way.
func (t *target) clear(ctx context.Context, j *job) error {
	mine := j.named()
	var old []string
	for _, name := range t.Names("") {
		if isOurs(name) && !mine[name] && !slices.Contains(beside, name) && name != dataset.CopyName && name != dataset.ManifestName && name != dataset.SignatureName {
			old = append(old, name)
		}
	}
	slices.Sort(old)
	for _, name := range old {
		if err := t.Drop(ctx, name); err != nil {
			return err
		}
	}
	if t.own != nil {
		return t.own.clear()
	}
	return nil
}
