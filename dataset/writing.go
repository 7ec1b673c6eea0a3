package dataset

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"path"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A Writing is a dataset that this process alone writes: it may begin a plan, write all shards of it, as the only
// [Task], and complete it.
type Writing struct {
	*Task
	// Sign, if not nil, returns the signature of a manifest, which is written beside it. It needs SHA256.
	Sign func(manifest []byte) ([]byte, error)
}

// Open makes the directory where there is none and locks it. A directory that another process writes to is [ErrLocked].
func Open(dir string) (*Writing, error) {
	d, err := OpenDir(dir)
	if err != nil {
		return nil, err
	}
	w := &Writing{Task: &Task{Dataset: &Dataset{Dir: d}}}
	if err := w.ownFiles(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return w, nil
}

// Begin writes a plan into the directory, so that this process and others can write its shards, and returns the journal,
// which has a line of each shard that runs before have finished. named are the sources as the user named them. The same plan may have
// been begun before; another one is [ErrOccupied] unless overwrite is set. Sources that have changed since are
// [Journal.Changed].
//
// A plan made before plans had Columns.Alike has a row for every sample in its indexes. If such a plan of the same
// dataset was begun here, Begin makes p that plan.
func (w *Writing) Begin(p *plan.Plan, src []converters.Part, named []string, overwrite bool) (*Journal, error) {
	c, err := w.existing(overwrite)
	if err != nil {
		return nil, err
	}
	digest, err := p.Digest()
	if err == nil && p.Columns.Alike && !overwrite && c.digest != digest {
		rows := *p
		rows.Columns.Alike = false
		var same string
		if same, err = rows.Digest(); same == c.digest {
			p.Columns.Alike, digest = false, same
		}
	}
	if err != nil {
		return nil, err
	}
	if err := w.alone(); err != nil { // before anything of theirs is removed
		return nil, err
	}
	switch {
	case overwrite && (c.plan != nil || c.damage != nil || len(c.ours) > 0):
		if err := w.clear(c); err != nil {
			return nil, err
		}
	case !overwrite && c.plan != nil && c.digest != digest:
		return nil, c.clash(p)
	}
	w.began = true
	if err := w.sweep(); err != nil {
		return nil, err
	}
	if err := w.writePlan(p, c.damage != nil); err != nil {
		return nil, err
	}
	j, err := openJournal(w.Dir, journalHead{Plan: digest, Pins: pins(p, src), Named: named, Sums: w.SHA256})
	if err != nil {
		return nil, err
	}
	// From here on the plan marks the directory as a dataset, even after a loss of power.
	if err = w.SyncNames(".", WorkDir); err == nil {
		err = w.Mkdir(IndexDir)
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	j.Compare(p, 0, src)
	if w.bucket != nil {
		if err := w.bucket.Begin(); err != nil {
			return nil, errors.Join(err, j.Close())
		}
	}
	if m := c.manifest; !overwrite && m != nil && m.PlanDigest == digest {
		j.Learn(m.Shards)
		for _, s := range m.Shards {
			if _, ok := j.Was[s.Name]; !ok { // the line was lost
				j.Was[s.Name] = Finished{ManifestShard: s, Verified: m.Verified, From: m.VerifiedFrom, At: m.Created.Unix()}
			}
		}
	}
	return j, nil
}

// writePlan writes the plan, unless there is one that is not damaged. Its name is not synced.
func (w *Writing) writePlan(plan *plan.Plan, damaged bool) error {
	if planned, err := w.has(PlanName); err != nil || planned && !damaged {
		return err
	}
	return w.writeBeside(PlanName, func(to io.Writer) error {
		_, err := plan.Write(to)
		return err
	})
}

// clear removes a dataset: the manifest first, so that a dataset that is half removed never counts as complete; the plan
// last, since it names the files that belong to the dataset.
func (w *Writing) clear(c *existing) error {
	if err := w.RemoveManifest(); err != nil {
		return err
	}
	w.Unsigned = false // of what the user replaces
	if err := w.SyncNames("."); err != nil {
		return err
	}
	names := []string{MetaName, KeysName}
	for _, name := range slices.Sorted(maps.Keys(c.ours)) {
		names = append(names, name, IndexName(name), path.Join(DoneDir, name))
	}
	return w.removePlan(names)
}

// Rollback removes a plan of which no shard is finished, and all that was made for it.
func (w *Writing) Rollback(plan *plan.Plan) error {
	shards, err := w.Shards()
	if err != nil || len(shards) > 0 {
		return err // the shards may belong to another dataset, or the journal that named them was lost
	}
	if complete, err := w.has(ManifestName); err != nil || complete {
		return err
	}
	var names []string
	for i := range plan.Shards {
		names = append(names, IndexName(plan.Shards[i].Name))
	}
	w.began = false
	return w.removePlan(names)
}

// removePlan removes files, then the journals, and then the plan, which marks the directory as a dataset.
func (w *Writing) removePlan(names []string) error {
	if err := w.erase(names...); err != nil {
		return err
	}
	w.Root.Remove(IndexDir) // unless there is more in it
	if err := w.SyncNames("."); err != nil {
		return err
	}
	if err := w.Root.RemoveAll(JournalsDir); err != nil {
		return err
	}
	if err := w.erase(JournalName); err != nil {
		return err
	}
	return w.erase(PlanName)
}

// Resumable returns the part-aligned plan stored in this directory if [plan.NewAligned] would make it
// again from parts and opts, else nil. It does not compare the columns, the description and the
// encodings of a mixture, which only fetched parts show, nor an encoding that is not known yet ("").
func (w *Writing) Resumable(parts []converters.Part, opts plan.Options) (*plan.Plan, error) {
	c, err := w.existing(false)
	if err != nil {
		return nil, err
	}
	begun := c.plan
	if begun == nil || !begun.Whole {
		return nil, nil
	}
	if planned, err := w.has(PlanName); err != nil || !planned {
		return nil, err
	}
	want, err := plan.NewAligned(parts, nil, opts)
	if err != nil {
		return nil, err
	}
	want.Columns, want.Dataset, want.Encodes = begun.Columns, begun.Dataset, begun.Encodes
	for i := range min(len(want.Parts), len(begun.Parts)) {
		want.Parts[i].Encode = begun.Parts[i].Encode
	}
	want.Encode.Encoding = cmp.Or(want.Encode.Encoding, begun.Encode.Encoding)
	if digest, err := want.Digest(); err != nil || digest != c.digest {
		return nil, err
	}
	return begun, nil
}
