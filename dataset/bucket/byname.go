package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// StatAll looks at objects by their names below base. It returns those that exist. An object that the user may not read is
// left out: who only writes has the listing alone.
func StatAll(ctx context.Context, client store.Store, base string, names []string) (map[string]store.Object, error) {
	found := make([]*store.Object, len(names))
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(requests)
	for i, name := range names {
		g.Go(func() error {
			o, err := client.Stat(within, base+name)
			if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDenied) {
				return nil
			}
			found[i] = &o
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	there := make(map[string]store.Object, len(names))
	for i, o := range found {
		if o != nil {
			there[names[i]] = *o
		}
	}
	return there, nil
}

// ask enters those of the names that the bucket has and its listing lacks. A listing that leaves an object out must
// not make it missing.
func (b *bucket) ask(names []string) error {
	var unlisted []string
	for _, name := range names {
		if _, listed := b.object(name); !listed {
			unlisted = append(unlisted, name)
		}
	}
	there, err := StatAll(b.ctx, b.opts.Client, b.url, unlisted)
	for name, o := range there {
		b.enter(name, o)
	}
	return err
}

// Fixed are the objects that a dataset may have whatever its shards are.
func Fixed() []string { return slices.Clone(fixed) }

var fixed = []string{dataset.PlanName, dataset.JournalName, dataset.ManifestName, dataset.SignatureName, dataset.MetaName, dataset.CopyName}

// askNamed asks for the shards that the manifest or the plan names. task says that the process writes some shards of
// the plan alone: it writes a finished one that the listing lacks again, to the same bytes, and asks for none.
func (b *bucket) askNamed(task bool) error {
	if m, err := b.out.Manifest(); err == nil && m != nil {
		var names []string
		for i := range m.Shards {
			names = append(names, m.Shards[i].Name, dataset.IndexName(m.Shards[i].Name))
		}
		return b.ask(names)
	}
	if task {
		return nil
	}
	shards := b.planned()
	done := make([]string, shards)
	for i := range done {
		done[i] = path.Join(dataset.DoneDir, record.Name(i, shards))
	}
	if err := b.ask(done); err != nil {
		return err
	}
	var names []string
	for _, name := range done {
		if _, finished := b.object(name); finished {
			names = append(names, path.Base(name), dataset.IndexName(path.Base(name)))
		}
	}
	return errors.Join(b.ask(names), b.askIndexed())
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
	for _, name := range b.below(dataset.IndexedDir) {
		if m := indexedBy.FindStringSubmatch(path.Base(name)); m != nil && len(names) == 0 {
			of, _ := strconv.Atoi(m[1])
			for k := range of {
				names = append(names, path.Join(dataset.IndexedDir, fmt.Sprintf("%d-of-%d", k, of)))
			}
		}
	}
	return b.ask(names)
}
