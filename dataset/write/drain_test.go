package write_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A watched run keeps what it is told of shards.
type watched struct {
	told
	lock     sync.Mutex
	begun    []string
	finished []dataset.ManifestShard
	onBegun  func(name string)
}

func (w *watched) Begun(name string) {
	w.lock.Lock()
	w.begun = append(w.begun, name)
	w.lock.Unlock()
	if w.onBegun != nil {
		w.onBegun(name)
	}
}

func (w *watched) Finished(s dataset.ManifestShard, seconds float64, first bool) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if seconds > 0 && first {
		w.finished = append(w.finished, s)
	}
}

func (w *watched) names() (begun, finished []string) {
	for _, s := range w.finished {
		finished = append(finished, s.Name)
	}
	slices.Sort(w.begun)
	slices.Sort(finished)
	return w.begun, finished
}

// A Watcher is told of each shard that is written, and not of one that was kept.
func TestWatcher(t *testing.T) {
	t.Parallel()
	src := memsource.New(71, 2, 40, 1000)
	plan := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	dir := shardtest.Dataset(src, plan)(t)
	shardtest.Remove(t, dir, "PART_00001.ffr")
	shardtest.Remove(t, dir, "PART_00003.ffr")
	w := &watched{}
	report, err := shardtest.Write(t, src, plan, dir, write.Options{Progress: w, NoVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"PART_00001.ffr", "PART_00003.ffr"}
	if begun, finished := w.names(); !slices.Equal(begun, want) || !slices.Equal(finished, want) {
		t.Errorf("begun %q, finished %q, want %q", begun, finished, want)
	}
	if w.shards != 2 || w.kept != 2 || w.beside != 0 {
		t.Errorf("%d shards to write, %d kept, %d bytes beside", w.shards, w.kept, w.beside)
	}
	for _, s := range w.finished {
		if !slices.Contains(report.Manifest.Shards, s) {
			t.Errorf("told of %+v, which the manifest does not have", s)
		}
	}
}

// A run that drains finishes what it has begun, and the next one the rest.
func TestWriteDrains(t *testing.T) {
	t.Parallel()
	src := memsource.New(72, 6, 40, 1000)
	exact := shardtest.NewPlan(t, src, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 6}})
	whole := shardtest.NewWholePlan(t, src, plan.Options{Sizes: plan.Sizes{Shards: 6}})
	for _, row := range []struct {
		name    string
		plan    *plan.Plan
		workers int
		at      string // the shard with whose beginning the draining begins; "": before all
	}{
		{"before all", exact, 2, ""},
		{"before all, part-aligned", whole, 2, ""},
		{"at the first", exact, 1, "PART_00000.ffr"},
		{"at the first of two at once", exact, 2, "PART_00000.ffr"},
		{"in the middle", exact, 2, "PART_00002.ffr"},
		{"in the middle, part-aligned", whole, 1, "PART_00002.ffr"},
		{"at the last", exact, 1, "PART_00005.ffr"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			drain := make(chan struct{})
			w := &watched{onBegun: func(name string) {
				if name == row.at {
					close(drain)
				}
			}}
			if row.at == "" {
				close(drain)
			}
			stock := &shardtest.Stocked{Source: src}
			run := func(dir string, opts write.Options) (*write.Report, error) {
				opts.Workers = row.workers
				if row.plan.Whole {
					return shardtest.WriteStock(t, stock, row.plan, dir, opts)
				}
				return shardtest.Write(t, src, row.plan, dir, opts)
			}
			dir := t.TempDir()
			_, err := run(dir, write.Options{Drain: drain, Progress: w})
			begun, finished := w.names()
			if !slices.Equal(begun, finished) {
				t.Errorf("begun %q, finished %q", begun, finished)
			}
			if row.at == "PART_00005.ffr" {
				if err != nil {
					t.Errorf("error %v, though everything was begun", err)
				}
			} else if u, ok := errors.AsType[*write.Unfinished](err); !errors.Is(err, write.ErrDrained) || !ok || u.Finished != len(finished) || u.Shards != 6 {
				t.Errorf("error %v (%+v) with %q finished", err, u, finished)
			}
			if row.at == "" && len(begun) > 0 {
				t.Errorf("begun %q", begun)
			}
			if stock.Held > 0 {
				t.Errorf("the parts of %d shards are held", stock.Held)
			}
			kept, err := run(dir, write.Options{})
			if err != nil || kept.Kept != len(finished) {
				t.Fatalf("the next run: %v, %+v", err, kept)
			}
			fresh := t.TempDir()
			if _, err := run(fresh, write.Options{}); err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(shardtest.Files(t, dir), shardtest.Files(t, fresh)) {
				t.Error("it has other bytes than one that was not drained")
			}
		})
	}
}

// Draining does not wait for the parts of a shard that is not begun.
func TestWriteDrainsWhileItFetches(t *testing.T) {
	t.Parallel()
	src := memsource.New(73, 3, 40, 1000)
	plan := shardtest.NewWholePlan(t, src, plan.Options{Sizes: plan.Sizes{Shards: 3}})
	for _, held := range []int{0, 1} {
		drain := make(chan struct{})
		stock := &slowStock{Stocked: shardtest.Stocked{Source: src}, held: held, begun: func() { close(drain) }}
		dir := t.TempDir()
		_, err := shardtest.WriteStock(t, stock, plan, dir, write.Options{Workers: 1, Drain: drain})
		if u, ok := errors.AsType[*write.Unfinished](err); !errors.Is(err, write.ErrDrained) || !ok || u.Finished != held {
			t.Errorf("while shard %d was fetched: error %v (%+v)", held, err, u)
		}
		if put := shardtest.Files(t, dir); len(put) != 2*held {
			t.Errorf("while shard %d was fetched: %d files", held, len(put))
		}
		// The plan is kept, as it is by a run that is interrupted.
		out, err := dataset.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if !shardtest.Has(t, out, dataset.PlanName) {
			t.Errorf("while shard %d was fetched: the plan is gone", held)
		}
		if err := out.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A slowStock never gets hold of one part.
type slowStock struct {
	shardtest.Stocked
	held  int
	begun func()
}

func (s *slowStock) Take(ctx context.Context, first, n int) (converters.Source, func() error, error) {
	if first == s.held {
		s.begun()
		<-ctx.Done()
		return nil, nil, context.Cause(ctx)
	}
	return s.Stocked.Take(ctx, first, n)
}
