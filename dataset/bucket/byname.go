package bucket

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Fixed are the objects that a dataset may have whatever its shards are.
func Fixed() []string { return slices.Clone(fixed) }

var fixed = []string{dataset.PlanName, dataset.JournalName, dataset.ManifestName, dataset.SignatureName, dataset.MetaName, dataset.CopyName}

// AskNamed asks for the shards and the indexes that a manifest names; of a plan, where there is no manifest, for those whose
// line of the journal is there. A listing may lack some. text is a plan; a damaged one, which others report, names none.
func AskNamed(ctx context.Context, there *store.Listing, m *dataset.Manifest, text []byte) error {
	if m != nil {
		return there.Ask(ctx, m.Files())
	}
	p, err := plan.OpenFile(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil
	}
	done := make([]string, p.Head.Shards)
	for i := range done {
		done[i] = path.Join(dataset.DoneDir, record.Name(i, len(done)))
	}
	if err := there.Ask(ctx, done); err != nil {
		return err
	}
	var names []string
	for _, name := range done {
		if _, finished := there.Object(name); finished {
			names = append(names, path.Base(name), dataset.IndexName(path.Base(name)))
		}
	}
	return there.Ask(ctx, names)
}

// askNamed asks for what the listing may lack. task says that the process writes some shards of the plan alone: it writes a
// finished one that the listing lacks again, to the same bytes, and asks for none.
func (b *bucket) askNamed(task bool) error {
	m, err := b.out.Manifest()
	if err != nil { // others report it
		m = nil
	}
	if m == nil && task {
		return nil
	}
	text, _ := b.out.ReadFile(dataset.PlanName) // without it there are none
	if err := AskNamed(b.ctx, b.there, m, text); err != nil || m != nil {
		return err
	}
	return b.askIndexed()
}

var indexedBy = regexp.MustCompile(`^[0-9]+-of-([0-9]{1,5})$`)

// askIndexed asks for what the other tasks have indexed, where the listing has what one has.
func (b *bucket) askIndexed() error {
	var names []string
	for _, name := range b.there.Names(dataset.IndexedDir + "/") {
		if m := indexedBy.FindStringSubmatch(path.Base(name)); m != nil && len(names) == 0 {
			of, _ := strconv.Atoi(m[1])
			for k := range of {
				names = append(names, path.Join(dataset.IndexedDir, fmt.Sprintf("%d-of-%d", k, of)))
			}
		}
	}
	return b.there.Ask(b.ctx, names)
}
