package dataset

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// ErrMissing says that shards of a plan are not there, or not as they were finished: their tasks have
// not finished or have failed, or another program has removed or changed them.
var ErrMissing = place.New(place.Unfinished, "shards are missing or damaged")

// A Missing error tells which shards of a plan are not finished, or no longer sound.
type Missing struct {
	Shards []string // in the order of the plan
	Of     int      // shards that the plan has
}

func (m *Missing) Error() string {
	const most = 3
	text := strings.Join(m.Shards[:min(most, len(m.Shards))], ", ")
	if len(m.Shards) > most {
		text += fmt.Sprintf(" and %d more", len(m.Shards)-most)
	}
	if len(m.Shards) == 1 {
		return fmt.Sprintf("1 of %d shards is missing or damaged: %s", m.Of, text)
	}
	return fmt.Sprintf("%d of %d %v: %s", len(m.Shards), m.Of, ErrMissing, text)
}

func (m *Missing) Unwrap() error { return ErrMissing }

// CheckShards checks that all shards of a plan are written. For shards in sound, which this run has
// checked already, it compares names and sizes only: another program may have removed them since.
func (o *Output) CheckShards(ctx context.Context, plan *plan.Plan, j *Journal, sound map[string]bool) error {
	holds := make([]bool, len(plan.Shards))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(filesAtOnce, runtime.GOMAXPROCS(0)))
	for i := range plan.Shards {
		s := &plan.Shards[i]
		g.Go(func() (err error) {
			if sound[s.Name] {
				holds[i], err = o.sized(j.Done[s.Name])
			} else if done, ok := j.Done[s.Name]; ok && plan.Complete(s, done.Bytes, done.Parts) {
				holds[i], err = o.IsSound(done)
			}
			return cmp.Or(err, ctx.Err())
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	missing := &Missing{Of: len(plan.Shards)}
	for i := range plan.Shards {
		if !holds[i] {
			missing.Shards = append(missing.Shards, plan.Shards[i].Name)
		}
	}
	if len(missing.Shards) > 0 {
		return fmt.Errorf("%s: %w (run their tasks again, or ffconvert run %s)", o.Name(), missing, o.Name())
	}
	return nil
}
