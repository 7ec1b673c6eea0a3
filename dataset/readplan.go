package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// ErrNothingKept says that a directory holds no plan to repair a dataset by.
var ErrNothingKept = place.New(place.Corrupt, "holds no plan of a conversion")

// Slice reads what a task needs of the plan in the directory: of the file, its own lines, and
// the rows of the table that lead to them. all makes Plan.Parts all parts, for sources that
// cannot be opened over some of them. A directory without a plan is [ErrNothingKept], a task that
// is none [plan.ErrTask]; a slice may be empty. A directory in the place of one of its files is refused.
func (o *Output) Slice(t plan.Task, all bool) (*plan.Slice, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	var s *plan.Slice
	err := o.readPlan(func(f *plan.File) (err error) {
		s, err = f.Slice(t, all)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range s.Plan.Shards {
		name := s.Plan.Shards[i].Name
		if err := cmp.Or(o.noDirectory(name), o.noDirectory(IndexName(name))); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// SourcesNamed returns the sources as the user named them for the plan; none: they are not known. Without
// a sound head of the journal it is [plan.ErrDamaged].
func (o *Output) SourcesNamed() ([]string, error) {
	j := newJournal()
	_, err := j.readMain(o.Root)
	if err == nil && j.head.Plan == "" {
		err = o.DamagedJournal(j.Bad)
	}
	return j.head.Named, err
}

// readPlan opens the plan while read uses it. Its errors name the directory; without a plan there it
// is [ErrNothingKept].
func (o *Output) readPlan(read func(*plan.File) error) error {
	switch err := o.usePlan(read); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", o.Name(), ErrNothingKept)
	case errors.Is(err, plan.ErrVersion), errors.Is(err, plan.ErrDamaged):
		m, _ := o.Manifest()
		return o.badPlan(err, m != nil)
	default:
		return err
	}
}

// badPlan adds to the error of a plan that cannot be read what to do. If the manifest can be read,
// a conversion writes the plan anew and keeps the shards.
func (o *Output) badPlan(err error, manifest bool) error {
	hint := "the command that made it writes it anew with WriteOptions.Overwrite"
	switch {
	case errors.Is(err, plan.ErrVersion):
		hint = "the ffconvert that began it goes on with it, WriteOptions.Overwrite starts anew"
	case manifest:
		hint = "the command that made it writes it anew"
	}
	return &place.Error{Where: o.Name(), Off: -1, Err: err, Hint: hint}
}

// usePlan opens the plan while read uses it.
func (o *Output) usePlan(read func(*plan.File) error) error {
	f, err := openKept(o.Root, PlanName)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := plan.OpenFile(f, st.Size())
	if err == nil {
		err = read(file)
	}
	for _, kind := range []error{nil, plan.ErrUnreadable, plan.ErrVersion, plan.ErrDamaged} {
		if errors.Is(err, kind) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", plan.ErrDamaged, err)
}
