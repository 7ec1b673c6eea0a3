package write_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A brokenSource fails at the run that bad reports.
type brokenSource struct {
	*memsource.Source
	bad func(run converters.Run) bool
}

var errBroken = errors.New("broken")

func (b *brokenSource) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	if b.bad(run) {
		return func(yield func(*converters.Sample, error) bool) { yield(nil, errBroken) }
	}
	return b.Source.Read(ctx, run)
}

// Shards that are filled are finished, although the next one fails while they are. The error is the one of
// the next shard, and nothing of it is left.
func TestFilledShardsAreFinished(t *testing.T) {
	t.Parallel()
	src := &brokenSource{Source: memsource.New(74, 3, 60, 20_000)}
	p := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	for at := range p.Shards {
		for range 5 {
			src.bad = func(run converters.Run) bool { return run == p.Shards[at].Runs[0] }
			dir := t.TempDir()
			_, err := shardtest.Write(t, src, p, dir, write.Options{Workers: 1})
			if u, ok := errors.AsType[*write.Unfinished](err); !ok || !errors.Is(err, errBroken) || u.Finished != at {
				t.Fatalf("shard %d fails: error %v (%+v)", at, err, u)
			}
			if files := shardtest.Files(t, dir); len(files) != 2*at {
				t.Errorf("shard %d fails: %d files", at, len(files))
			}
			src.bad = func(converters.Run) bool { return false }
			report, err := shardtest.Write(t, src, p, dir, write.Options{})
			if err != nil || report.Kept != at {
				t.Fatalf("after shard %d has failed: %v, %+v", at, err, report)
			}
		}
	}
}

// A crowdedStock has room for the parts of one shard, which cannot be read. It fails to bring others once they have the room.
type crowdedStock struct {
	shardtest.Stocked
	free chan struct{} // closed when there is room
}

var errNext = errors.New("of the next shard")

func (s *crowdedStock) Take(ctx context.Context, first, n int) (converters.Source, func() error, error) {
	if first > 0 {
		select {
		case <-s.free:
			return nil, nil, errNext
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	src, release, err := s.Stocked.Take(ctx, first, n)
	return unreadable{src}, func() error {
		close(s.free)
		time.Sleep(10 * time.Millisecond) // as the removal of files takes
		return release()
	}, err
}

type unreadable struct{ converters.Source }

func (unreadable) Read(context.Context, converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) { yield(nil, errBroken) }
}

// What comes into the room of a shard that has failed, and fails as well, is not the error of the run.
func TestFirstFailureIsReported(t *testing.T) {
	t.Parallel()
	src := memsource.New(76, 2, 20, 500)
	p := shardtest.NewWholePlan(t, src, plan.Options{Sizes: plan.Sizes{Shards: 2}})
	for range 10 {
		stock := &crowdedStock{Stocked: shardtest.Stocked{Source: src}, free: make(chan struct{})}
		_, err := shardtest.WriteStock(t, stock, p, t.TempDir(), write.Options{Workers: 1})
		if !errors.Is(err, errBroken) || errors.Is(err, errNext) || stock.Held > 0 {
			t.Fatalf("error %v, the parts of %d shards are held", err, stock.Held)
		}
	}
}

// A crowd counts shards that were begun and are not finished.
type crowd struct{ now, most atomic.Int64 }

func (*crowd) Start(string, int64)     {}
func (*crowd) Add(_, _ int64)          {}
func (*crowd) Planned(int, int, int64) {}
func (*crowd) Moved(int64)             {}
func (c *crowd) Begun(string) {
	if n := c.now.Add(1); n > c.most.Load() {
		c.most.Store(n)
	}
}
func (c *crowd) Finished(dataset.ManifestShard, float64, bool) { c.now.Add(-1) }

// Where few files may be open, a shard is begun when an earlier one is finished.
func TestFewOpenFiles(t *testing.T) {
	t.Parallel()
	src := memsource.New(75, 3, 60, 20_000)
	p := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	var c crowd
	if _, err := shardtest.Write(t, src, p, t.TempDir(), write.Options{Workers: 1, OpenFiles: 20, Progress: &c}); err != nil {
		t.Fatal(err)
	}
	if c.most.Load() != 1 || c.now.Load() != 0 {
		t.Errorf("%d shards at once, %d are left", c.most.Load(), c.now.Load())
	}
}
