package bucket

import (
	"context"
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Named returns how many shards of the plan at a URL exist, by their names in a list, and how many the plan has: if
// all exist, the caller can complete the dataset. If the list has more than half of them, Named looks up the
// others one by one. Without a plan the error is [dataset.ErrNothingKept].
func Named(ctx context.Context, url string, opts Options) (named, of int, err error) {
	base := Base(url)
	o, err := opts.Client.Stat(ctx, base+dataset.PlanName)
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%s: %w", store.Redact(base), dataset.ErrNothingKept)
	}
	if err != nil {
		return 0, 0, err
	}
	f, err := plan.OpenFile(store.ReadAt(ctx, opts.Client, o), o.Size)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w: %w", store.Redact(o.URL), plan.ErrDamaged, err)
	}
	of = f.Head.Shards
	listed := map[string]bool{}
	for o, err := range opts.Client.List(ctx, base+"PART_") {
		if err != nil {
			return 0, 0, err
		}
		listed[o.URL[len(base):]] = true
	}
	var others []string
	for i := range of {
		if name := record.Name(i, of); listed[name] {
			named++
		} else {
			others = append(others, name)
		}
	}
	if len(others) < named {
		there, err := store.NewListing(opts.Client, base).StatAll(ctx, others)
		return named + len(there), of, err
	}
	return named, of, nil
}
