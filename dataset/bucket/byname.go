package bucket

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Fixed returns the names of the objects that do not depend on the shards.
func Fixed() []string { return slices.Clone(fixed) }

var fixed = []string{dataset.PlanName, dataset.JournalName, dataset.ManifestName, dataset.SignatureName, dataset.MetaName, dataset.CopyName}

// StatNamed looks up, and enters, the shards and indexes that a manifest names. If m is nil, it looks up those of the plan
// in text that have an object in dataset.DoneDir. A listing may lack some. A damaged plan is no error here: it names none.
func StatNamed(ctx context.Context, objects *store.Listing, m *dataset.Manifest, text []byte) error {
	if m != nil {
		return objects.StatUnknown(ctx, m.Files())
	}
	p, err := plan.OpenFile(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil
	}
	done := make([]string, p.Head.Shards)
	for i := range done {
		done[i] = path.Join(dataset.DoneDir, record.Name(i, len(done)))
	}
	if err := objects.StatUnknown(ctx, done); err != nil {
		return err
	}
	var names []string
	for _, name := range done {
		if _, finished := objects.Object(name); finished {
			names = append(names, path.Base(name), dataset.IndexName(path.Base(name)))
		}
	}
	return objects.StatUnknown(ctx, names)
}

// statNamed looks up objects that the listing may lack. task means that this process writes only some shards of the plan,
// as in OpenTask: it looks up none, since writing a finished shard again gives the same bytes.
func (b *bucket) statNamed(task bool) error {
	m, err := b.out.Manifest()
	if err != nil { // a damaged manifest: the caller of Open reports it
		m = nil
	}
	if m == nil && task {
		return nil
	}
	text, _ := b.out.ReadFile(dataset.PlanName) // empty without a plan
	if err := StatNamed(b.ctx, b.objects, m, text); err != nil || m != nil {
		return err
	}
	return b.statIndexed()
}

var indexedBy = text.Pattern(`^[0-9]+-of-([0-9]{1,5})$`)

// statIndexed looks up the indexed parts of all tasks, if the listing has that of one: its name has the number of tasks.
func (b *bucket) statIndexed() error {
	var names []string
	for _, name := range b.objects.Names(dataset.IndexedDir + "/") {
		if m := indexedBy().FindStringSubmatch(path.Base(name)); m != nil && len(names) == 0 {
			of, _ := strconv.Atoi(m[1])
			for k := range of {
				names = append(names, path.Join(dataset.IndexedDir, fmt.Sprintf("%d-of-%d", k, of)))
			}
		}
	}
	return b.objects.StatUnknown(b.ctx, names)
}
