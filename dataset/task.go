package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A Task is a process that writes shards of a plan, one of several that may do so at the same time. Its directory stays.
//
// Functions of package dataset/write use it from many goroutines and leave it open. Only one of them may use it at a time.
type Task struct {
	*Dataset
	// SHA256: the manifest gets the SHA-256 of every file, so shards that are re-read are hashed. A conversion that was
	// begun with it sets it, and a manifest that has them.
	SHA256 bool
	// Unsigned: this process has removed the signature of a manifest that others may have relied on.
	Unsigned bool
}

// OpenTask makes the directory where there is none and locks it for tasks. One that another process holds alone is
// [ErrLocked].
func OpenTask(dir string) (*Task, error) {
	d, err := openDir(dir, true)
	if err != nil {
		return nil, err
	}
	if err := d.ownDirs(IndexDir); err != nil { // Slice looks at the files of the task: a dataset has 200,000 shards, a task has 20
		return nil, errors.Join(err, d.Close())
	}
	return &Task{Dataset: &Dataset{Dir: d}}, nil
}

// Slice reads what a task needs of the plan in the directory: of the file, its own lines, and
// the rows of the table that lead to them. all makes Plan.Parts all parts, for sources that
// cannot be opened over some of them. A directory without a plan is [ErrNothingKept], a task that
// is none [plan.ErrTask]; a slice may be empty. A directory in the place of one of its files is refused.
func (t *Task) Slice(task plan.Task, all bool) (*plan.Slice, error) {
	if err := task.Check(); err != nil {
		return nil, err
	}
	var s *plan.Slice
	err := t.readPlan(func(f *plan.File) (err error) {
		s, err = f.Slice(task, all)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range s.Plan.Shards {
		name := s.Plan.Shards[i].Name
		if err := cmp.Or(t.noDirectory(name), t.noDirectory(IndexName(name))); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// SourcesNamed returns the sources as the user named them for the plan; none: they are not known. Without
// a sound head of the journal it is [plan.ErrDamaged].
func (t *Task) SourcesNamed() ([]string, error) {
	j := newJournal(t.Dir)
	err := j.readMain()
	if err == nil && j.head.Plan == "" {
		err = t.damagedJournal(j.Bad)
	}
	return j.head.Named, err
}

// Room waits until there is room in the scratch of a dataset that a bucket keeps. Without a bucket there always is.
func (t *Task) Room(ctx context.Context, bytes int64) (free func(), err error) {
	if t.bucket == nil {
		return func() {}, nil
	}
	return t.bucket.Room(ctx, bytes)
}

// Deliver is called with a finished shard before its line is in the journal. Where a bucket keeps the dataset, it
// uploads the shard and its index, and removes them from the directory.
func (t *Task) Deliver(ctx context.Context, f *Finished, moved func(bytes int64)) error {
	f.At = time.Now().Unix()
	if t.bucket == nil {
		return nil
	}
	if err := t.bucket.Put(ctx, f, moved); err != nil {
		return err
	}
	return errors.Join(t.Remove(f.Name), t.Remove(IndexName(f.Name)))
}

// save puts a file as it is into the bucket, if one keeps the dataset.
func (t *Task) save(name string) error {
	if t.bucket == nil {
		return nil
	}
	return t.bucket.Save(name)
}

// erase removes files, from the bucket first: the directory still names what a run that is stopped has left there.
func (t *Task) erase(names ...string) error {
	if t.bucket != nil {
		if err := t.bucket.Remove(names...); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := t.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// RemoveManifest removes the manifest, and first its signature, which is of no other manifest.
func (t *Task) RemoveManifest() error {
	if err := t.removeSignature(); err != nil {
		return err
	}
	return t.erase(ManifestName)
}

func (t *Task) removeSignature() error {
	there, err := t.has(SignatureName)
	t.Unsigned = t.Unsigned || there
	return cmp.Or(err, t.erase(SignatureName))
}

// Cache is the path of the directory in which inputs are staged. It need not exist. A task has one of its own.
func (t *Task) Cache() string { return t.Path(t.cache()) }

// CheckCache refuses a cache that would not be one: another kind of file has its name, or its path
// leads to another directory.
func (t *Task) CheckCache() error {
	if err := t.Here(nil); err != nil {
		return err
	}
	st, err := t.Lookup(t.cache())
	if err == nil && st != nil && !st.IsDir() {
		err = &converters.Error{Where: t.Cache(), Off: -1, Err: fmt.Errorf("%w: not a directory", converters.ErrUnsupported), Hint: "remove it"}
	}
	return err
}

// RemoveCache removes the staged copies.
func (t *Task) RemoveCache() error { return t.Root.RemoveAll(t.cache()) }

func (t *Task) cache() string {
	if t.shared {
		return t.Temp("") + "/cache"
	}
	return cacheName
}
