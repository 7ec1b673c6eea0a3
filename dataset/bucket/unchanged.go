package bucket

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/store"
)

// unchanged compares all objects that the manifest names, the plan and the manifest itself with the versions that this run has
// put or found. Object stores have no locks: another run, which replaces the dataset, may have removed or replaced some
// since. That is [dataset.ErrOccupied].
func (b *bucket) unchanged() error {
	m, err := b.out.Manifest()
	if err != nil {
		return err
	}
	names := append(m.Files(), dataset.PlanName, dataset.ManifestName)
	named := map[string]bool{}
	for _, name := range names {
		named[name] = true
	}
	names = slices.DeleteFunc(names, func(name string) bool { _, known := b.there.Object(name); return !known })
	now := map[string]store.Object{}
	var others []store.Object
	for o, err := range b.there.List(b.ctx, b.url) {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(o.URL, b.url)
		now[name] = o
		if _, known := b.there.Object(name); b.replaces && !known && !named[name] && dataset.IsDatasetFile(name) && strings.Contains(name, "PART_") {
			others = append(others, o)
		}
	}
	for _, other := range others { // a run that this one has replaced has put it since
		if !b.owns(b.ctx) {
			return b.occupied()
		}
		if err := b.there.Remove(b.ctx, other); err != nil {
			return err
		}
	}
	var unlisted []string
	for _, name := range names {
		if o, listed := now[name]; !listed || !b.isSame(name, o) { // a listing may lack it, or be late
			unlisted = append(unlisted, name)
		}
	}
	there, err := b.there.StatAll(b.ctx, unlisted)
	if err != nil {
		return err
	}
	for _, name := range unlisted {
		o, ok := there[name]
		if !ok {
			o, ok = now[name] // who may not read has the listing alone
		}
		if !ok || !b.isSame(name, o) {
			return b.occupied()
		}
	}
	return nil
}

// isSame reports whether an object is the one that this run knows by that name: of its version, or of its checksum, since the
// reply to a put may have said another version.
func (b *bucket) isSame(name string, o store.Object) bool {
	mine, _ := b.there.Object(name)
	if o.Size != mine.Size {
		return false
	}
	sum := mine.Sum.NewHash() != nil && mine.Sum == o.Sum
	return sum || cmp.Or(mine.Version, o.Version) == cmp.Or(o.Version, mine.Version)
}
