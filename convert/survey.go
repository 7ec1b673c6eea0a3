package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A selection determines which parts are indexed.
type selection struct {
	some  []int            // numbers of the parts; nil: all
	known *dataset.Indexed // parts that are already indexed and not read again
	local int              // number of inputs, from the first, that contain all wanted samples; 0: all inputs. See trim
}

// A survey is an open dataset with the index of some of its parts.
type survey struct {
	*opened                  // with all parts, some of them not local
	index   []plan.PartIndex // of each selected part
	chooser *choose.Chooser  // nil: all samples are chosen
}

// survey indexes the selected parts, and calls use. It makes only inputs that are read local.
func (w *work) survey(ctx context.Context, of selection, use func(*survey) error) error {
	all := w.directories() != nil
	for {
		need, again := w.need(of, all), false
		err := w.local(ctx, need, func(parts []converters.Part) error {
			o, err := w.open(ctx, parts)
			if err != nil {
				// If the first part may have no rows, the format looks at the next one.
				again = errors.Is(err, fs.ErrNotExist) && slices.Contains(need, false)
				all = all || again
				return err
			}
			w.describe(o)
			dropped, err := of.known.Keep(o.desc, o.each)
			if err != nil || dropped > 0 {
				again = err == nil
				return err
			}
			s, err := w.index(ctx, o, of)
			if err != nil {
				return err
			}
			return use(s)
		})
		if !again {
			return err
		}
	}
}

// index indexes the selected parts of an open dataset.
func (w *work) index(ctx context.Context, o *opened, of selection) (s *survey, err error) {
	s = &survey{opened: o}
	if w.choice() != nil {
		if s.chooser, err = choose.New(w.Choice, o.desc.Classes); err != nil {
			return nil, err
		}
		if w.joins() {
			s.chooser.Through()
		}
	}
	s.index, err = plan.Index(ctx, o.Source, plan.IndexOptions{Encodings: o.each, Only: of.some, Known: of.known.Get, Workers: Indexers(w.Workers), Progress: w.Progress, Choose: s.chooser})
	if err == nil && of.some == nil && of.known.Len() == 0 {
		err = s.chooser.Finish() // only if the chooser has seen the samples of all parts
	}
	if all, ok := o.Source.(interface{ Check(context.Context) error }); err == nil && of.some == nil && ok {
		err = all.Check(ctx) // checks that need all samples
	}
	return s, err
}

// need returns, for each input, whether indexing the selection needs it to be local.
func (w *work) need(of selection, all bool) []bool {
	if all {
		return w.firstOf(0)
	}
	need, places, some := make([]bool, len(w.names)), w.places(), of.some
	switch {
	case some == nil && of.local > 0:
		some = indices(of.local)
	case some == nil:
		some = indices(len(places))
	}
	for _, part := range some {
		need[places[part]] = need[places[part]] || !of.known.Has(part)
	}
	for i, some := range split(w.inputs, need) {
		if w.collections[i].Inspects && len(some) > 0 {
			some[0] = true
		}
	}
	return need
}

// trim returns how many of the inputs, from the first, contain all samples that a limit or a slice wants, so that no
// others need be fetched or decompressed; 0: all. It makes 1, 2, 4 … inputs local until these are enough; the copies
// stay in the cache. It does not read inputs that are local files.
func (w *work) trim(ctx context.Context) (enough int, err error) {
	if !w.trimmable() {
		return 0, nil
	}
	remote := slices.ContainsFunc(w.names, func(n input.Name) bool { return n.URL() != "" })
	var held *stage.Set
	defer func() { err = errors.Join(err, held.Release()) }()
	for n := 1; n < len(w.names); n *= 2 {
		set, parts, err := w.stageSome(ctx, w.firstOf(n))
		if err != nil {
			return 0, w.adviseRoom(err)
		}
		err = held.Release()
		if held = set; err != nil {
			return 0, err
		}
		if n == 1 && !remote && set.Parts[0].Copy == nil {
			return 0, nil
		}
		o, err := w.open(ctx, parts)
		if err != nil {
			return 0, err
		}
		s, err := w.index(ctx, o, selection{some: indices(n)})
		if err != nil || s.chooser.Done() {
			return n, err
		}
	}
	return 0, nil
}

// An EmptyError reports that the sources have no samples to convert. It wraps [plan.ErrEmpty].
type EmptyError struct {
	Name      string           // the first of the sources
	LeftOut   int64            // samples that lack a field
	NotChosen map[string]int64 // samples that were not chosen, by the option that left them out
	Skipped   map[string]int64
	Err       error
}

func (e *EmptyError) Error() string { return fmt.Sprintf("%s: %v to convert", e.Name, e.Err) }
func (e *EmptyError) Unwrap() error { return e.Err }

// empty returns an EmptyError with the counts of the index if err is plan.ErrEmpty, else err.
func empty(first string, index []plan.PartIndex, err error) error {
	if !errors.Is(err, plan.ErrEmpty) {
		return err
	}
	e := &EmptyError{Name: first, Skipped: make(map[string]int64), NotChosen: make(map[string]int64), Err: err}
	for i := range index {
		e.LeftOut += index[i].Account.WithoutField()
		for option, n := range index[i].Account.LeftOutBy {
			e.NotChosen[option] += n
		}
		for reason, n := range index[i].Account.Skipped {
			e.Skipped[reason] += n
		}
	}
	return e
}

// Indexing a part that is not in the page cache waits for many small reads, one after another. So more parts are
// indexed at once than there are workers, to keep the device busy.
const (
	usualIndexers = 32 // or the number of workers, if that is larger
	leastIndexers = 8  // even if few files may be open
)

// Indexers returns the number of parts to index at once. Each has an open file.
func Indexers(workers int) int {
	return min(max(workers, usualIndexers), max(leastIndexers, openFiles()/4))
}
