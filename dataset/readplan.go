package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// ErrNothingKept says that a directory has no plan, without which nothing can be repaired.
var ErrNothingKept = place.New(place.Corrupt, "holds no plan of a conversion")

// readPlan opens the plan while read uses it. Its errors name the directory; without a plan there it
// is [ErrNothingKept].
func (d *Dataset) readPlan(read func(*plan.File) error) error {
	switch err := usePlan(d.Root, read); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", d.Name(), ErrNothingKept)
	case errors.Is(err, plan.ErrVersion), errors.Is(err, plan.ErrDamaged):
		m, _ := d.Manifest()
		return d.badPlan(err, m != nil)
	default:
		return err
	}
}

// badPlan adds to the error of a plan that cannot be read what to do. If the manifest can be read,
// a conversion writes the plan anew and keeps the shards.
func (d *Dataset) badPlan(err error, manifest bool) error {
	hint := "the command that made it writes it anew with option overwrite"
	switch {
	case errors.Is(err, plan.ErrVersion):
		hint = "the ffconvert that began it goes on with it, option overwrite starts anew"
	case manifest:
		hint = "the command that made it writes it anew"
	}
	return &place.Error{Where: d.Name(), Off: -1, Err: err, Hint: hint}
}

// usePlan opens the plan in a directory while read uses it.
func usePlan(root *os.Root, read func(*plan.File) error) error {
	f, err := openKept(root, PlanName)
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
