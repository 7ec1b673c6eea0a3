package bucket

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Fixed are the objects that a dataset may have whatever its shards are.
func Fixed() []string { return slices.Clone(fixed) }

var fixed = []string{dataset.PlanName, dataset.JournalName, dataset.ManifestName, dataset.SignatureName, dataset.MetaName, dataset.CopyName}

// askNamed asks for the shards that the manifest or the plan names. task says that the process writes some shards of
// the plan alone: it writes a finished one that the listing lacks again, to the same bytes, and asks for none.
func (b *bucket) askNamed(task bool) error {
	if m, err := b.out.Manifest(); err == nil && m != nil {
		return b.there.Ask(b.ctx, m.Files())
	}
	if task {
		return nil
	}
	shards := b.planned()
	done := make([]string, shards)
	for i := range done {
		done[i] = path.Join(dataset.DoneDir, record.Name(i, shards))
	}
	if err := b.there.Ask(b.ctx, done); err != nil {
		return err
	}
	var names []string
	for _, name := range done {
		if _, finished := b.there.Object(name); finished {
			names = append(names, path.Base(name), dataset.IndexName(path.Base(name)))
		}
	}
	return errors.Join(b.there.Ask(b.ctx, names), b.askIndexed())
}

// Planned returns how many shards a plan has; 0: it is damaged.
func Planned(text []byte) int {
	p, err := plan.OpenFile(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return 0
	}
	return p.Head.Shards
}

// planned returns how many shards the plan has; 0: there is none, or a damaged one, which others report.
func (b *bucket) planned() int {
	text, err := b.out.ReadFile(dataset.PlanName)
	if err != nil {
		return 0
	}
	return Planned(text)
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
