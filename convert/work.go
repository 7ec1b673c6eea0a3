package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/samples/filter"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A work is a running conversion: its inputs, and the resources that it holds until it ends.
type work struct {
	*inputs
	out      *dataset.Task // nil: nothing is written
	stage    stage.Options
	passing  bool // parts become local shard by shard; copies in the output are removed after their shard
	siblings *siblings
	filter   *filter.Filter         // nil: none was started
	src      converters.Source      // the latest opened source; nil: none
	desc     converters.Description // of src
}

// inOutput opens the output, calls use unless the output has another dataset, and closes it. After success it removes
// the indexes of tasks.
func (in *inputs) inOutput(ctx context.Context, use func(*work, *dataset.Writing) error) error {
	out, err := in.output().open(ctx)
	if err != nil {
		return err
	}
	if err = in.check(out.Task); err == nil {
		err = in.work(ctx, out.Task, func(w *work) error { return use(w, out) })
	}
	if err == nil {
		err = out.DropIndexed()
	}
	return closeOutput(out.Task, err)
}

// check returns an error if the output has another dataset, as far as this is known before the inputs are read.
func (in *inputs) check(out *dataset.Task) error {
	var names []string // names of the parts; nil for directories, which are listed later
	if in.directories() == nil {
		for _, p := range in.parts() {
			names = append(names, p.Name)
		}
	}
	how, err := in.planOptions()
	if err != nil {
		return err
	}
	return out.Check(how, names, in.Overwrite)
}

// closeOutput closes an output and joins its error with err, the result of the work on it.
func closeOutput(out *dataset.Task, err error) error {
	return errors.Join(out.Here(err), out.Close())
}

// work calls use, and then releases resources. Copies are made in Input.CacheDir; if that is "", in the output, or in a
// temporary directory if out is nil.
func (in *inputs) work(ctx context.Context, out *dataset.Task, use func(*work) error) error {
	w := &work{inputs: in, out: out, stage: in.inputOptions()}
	switch {
	case w.stage.CacheDir != "":
	case out == nil:
		remove := TemporaryCache(&w.stage)
		defer remove()
	default:
		if err := out.CheckCache(); err != nil {
			return err
		}
		w.stage.CacheDir = out.Cache()
	}
	w.siblings = NewSiblings(w.stage, in.names)
	err := use(w)
	if err == nil && w.existing == nil {
		in.reportDoubts(w.src) // also about what was read since opening
	}
	return errors.Join(err, w.siblings.Release(), w.endFilter(), w.removeCache(ctx, err))
}

// removeCache removes the cache in the output after a run that ended with err, unless another run can use it: this one
// was interrupted, or shards are missing and the copies of all inputs are there. If the caller names another cache, the
// one in the output is from an earlier run, and is removed only after success.
func (w *work) removeCache(ctx context.Context, err error) error {
	_, unfinished := errors.AsType[*write.Unfinished](err)
	switch {
	case w.out == nil, ctx.Err() != nil, errors.Is(err, write.ErrDrained), errors.Is(err, dataset.ErrMoved), unfinished && !w.passing:
		return nil
	case w.Input.CacheDir != "" && (err != nil || isInside(w.Input.CacheDir, w.out.Cache())):
		return nil
	}
	return w.out.RemoveCache()
}

// TemporaryCache makes a directory for staged copies, and returns a function that removes it. If it
// cannot be made, as in an image without /tmp, staging fails later, if it needs copies.
func TemporaryCache(in *stage.Options) (remove func() error) {
	dir, err := os.MkdirTemp("", "ffconvert-*")
	if err != nil {
		in.NoCache = advise(fmt.Errorf("no place for copies of compressed or remote inputs: %v", err), "name a directory that can be written to with option cache-dir")
		return func() error { return nil }
	}
	in.CacheDir = dir
	return func() error { return os.RemoveAll(dir) }
}

// local makes inputs local files and calls use with all parts; parts that are not local have their stored sizes. need
// has one element for each input, or for the first inputs.
func (w *work) local(ctx context.Context, need []bool, use func([]converters.Part) error) error {
	set, parts, err := w.stageSome(ctx, need)
	if err == nil {
		err = errors.Join(use(parts), set.Release())
	}
	return w.adviseRoom(err)
}

// stageSome is local without the call. The caller releases the set, which has only the local files.
func (w *work) stageSome(ctx context.Context, need []bool) (*stage.Set, []converters.Part, error) {
	var names []input.Name
	for i, n := range w.names {
		if i < len(need) && need[i] {
			names = append(names, n)
		}
	}
	opts := w.stage
	opts.Progress = Staging(w.Progress, names)
	set, err := stage.Open(ctx, names, opts)
	if err != nil {
		return nil, nil, err
	}
	here := set.Parts
	parts := make([]converters.Part, len(w.names))
	for i, n := range w.names {
		if i < len(need) && need[i] {
			parts[i], here = here[0], here[1:]
		} else {
			parts[i] = n.Part()
		}
	}
	return set, parts, nil
}

// firstOf returns the need argument of work.local for the first n inputs; 0: all.
func (in *inputs) firstOf(n int) []bool {
	return slices.Repeat([]bool{true}, cmp.Or(n, len(in.names)))
}

// adviseRoom adds advice to an error that the cache is too small for all parts of a new dataset.
func (w *work) adviseRoom(err error) error {
	e, ok := errors.AsType[*place.Error](err)
	if !ok || e.Hint == moreRoomForOne || !errors.Is(err, stage.ErrQuota) || w.out == nil || w.existing != nil || w.directories() != nil {
		return err
	}
	e.Hint = MoreRoomForAll
	return err
}

// Staging returns a function for stage.Options.Progress. It starts the phase with the first staged
// byte, since most inputs need no staging. The total is 0 if a size is unknown.
func Staging(p plan.Progress, found []input.Name) func(string, int64) {
	if p == nil {
		return nil
	}
	total := int64(0)
	for _, n := range found {
		total += n.Size
		if n.Size < 0 {
			total = 0
			break
		}
	}
	var begin sync.Once
	return func(_ string, n int64) {
		begin.Do(func() { p.Start("stage", total) })
		p.Add(0, n)
	}
}

// writeOptions returns the options for package write. It calls Drain.
func (w *work) writeOptions() write.Options {
	opts := write.Options{
		Workers: w.desc.AtOnce(w.Workers), Overwrite: w.Overwrite, NoVerify: w.NoVerify, Verify: w.Verify,
		OpenFiles: openFiles(), AIO: w.AIO, Progress: w.Progress, Tool: w.Tool, Named: w.named(),
	}
	if w.Drain != nil {
		opts.Drain = w.Drain()
	}
	if w.filter != nil {
		opts.Filled = w.filter.Finish
	}
	return opts
}

// describe stores the description of the source for the result, and reports its doubts.
func (w *work) describe(o *opened) {
	w.src, w.desc = o.Source, o.desc
	w.reportDoubts(w.src)
}

// reportDoubts reports the doubts about a source, the specification, and the names of the inputs.
func (in *inputs) reportDoubts(src converters.Source) {
	var doubts []converters.Doubt
	if in.Spec != nil {
		doubts = slices.Clone(in.Spec.Doubts)
	}
	if from, ok := src.(converters.Doubter); ok {
		doubts = append(doubts, from.Doubts()...)
	}
	doubts = append(doubts, converters.SeriesDoubts(in.listed())...)
	in.report(append(doubts, input.LaidDoubts(in.names)...))
}
