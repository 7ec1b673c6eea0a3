package bucket

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/store"
)

// unchanged compares the objects that the manifest names, the plan and the manifest with the versions that this run has
// put or found. Object stores have no locks: another run that replaces the dataset may have removed or replaced some. Then
// the error is [dataset.ErrOccupied]. A run that owns the plan removes the shards and indexes of other runs.
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
	names = slices.DeleteFunc(names, func(name string) bool { _, known := b.objects.Object(name); return !known })
	now := map[string]store.Object{}
	var others []store.Object
	for o, err := range b.objects.List(b.ctx, b.url) {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(o.URL, b.url)
		now[name] = o
		if _, known := b.objects.Object(name); b.replaces && !known && !named[name] && dataset.IsDatasetFile(name) && strings.Contains(name, "PART_") {
			others = append(others, o)
		}
	}
	for _, other := range others { // put by a run that this run has replaced
		if !b.owns(b.ctx) {
			return b.occupied()
		}
		if err := b.objects.Remove(b.ctx, other); err != nil {
			return err
		}
	}
	var unlisted []string
	for _, name := range names {
		if o, listed := now[name]; !listed || !b.isSame(name, o) { // the listing may lack it, or be out of date
			unlisted = append(unlisted, name)
		}
	}
	found, err := b.objects.StatAll(b.ctx, unlisted)
	if err != nil {
		return err
	}
	for _, name := range unlisted {
		o, ok := found[name]
		if !ok {
			o, ok = now[name] // a user without the right to read has only the listing
		}
		if !ok || !b.isSame(name, o) {
			return b.occupied()
		}
	}
	return nil
}

// isSame reports whether an object has the version or the checksum that this run knows for its name. The checksum counts
// because some services return another version in the reply to an upload.
func (b *bucket) isSame(name string, o store.Object) bool {
	known, _ := b.objects.Object(name)
	if o.Size != known.Size {
		return false
	}
	sum := known.Sum.NewHash() != nil && known.Sum == o.Sum
	return sum || cmp.Or(known.Version, o.Version) == cmp.Or(o.Version, known.Version)
}
