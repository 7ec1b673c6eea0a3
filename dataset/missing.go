package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// ErrMissing says that shards of a plan are absent or differ from their journal lines: a task has not finished or has
// failed, or another program removed or changed them.
var ErrMissing = place.New(place.Unfinished, "shards are missing or damaged")

// A Missing error lists the shards of a plan that are absent or damaged.
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
// checked already, it compares names and sizes only, in case another program has removed them.
func (w *Writing) CheckShards(ctx context.Context, plan *plan.Plan, j *Journal, sound map[string]bool) error {
	holds := make([]bool, len(plan.Shards))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(filesAtOnce, runtime.GOMAXPROCS(0)))
	for i := range plan.Shards {
		s := &plan.Shards[i]
		g.Go(func() (err error) {
			if sound[s.Name] {
				holds[i], err = w.sized(j.Done[s.Name])
			} else if done, ok := j.Done[s.Name]; ok && plan.Complete(s, done.Bytes, done.Parts) {
				holds[i], err = w.IsSound(done)
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
		return fmt.Errorf("%s: %w (run their tasks again, or ffconvert run %s)", w.Name(), missing, w.Name())
	}
	return nil
}

// IsSound reports whether a finished shard still has its size and header, and its index the same bytes. It returns an
// error if the files cannot be read.
func (d *Dataset) IsSound(f Finished) (bool, error) {
	if d.bucket != nil {
		return d.bucket.Has(f)
	}
	got, err := d.Header(f.Name)
	if err != nil {
		return false, unknown(err)
	}
	if got.Samples != f.Samples || got.Size != f.Bytes || got.HeaderCRC != f.HeaderCRC {
		return false, nil
	}
	file, err := openKept(d.Root, IndexName(f.Name))
	if err != nil {
		return false, unknown(err)
	}
	defer file.Close()
	sum := sumWriter{to: io.Discard}
	if _, err := io.CopyBuffer(&sum, io.LimitReader(file, f.Index.Bytes+1), make([]byte, 1<<18)); err != nil {
		return false, err
	}
	return sum.FileSum.is(f.Index), nil
}

// sized reports whether a finished shard and its index have their names and sizes. It reads neither.
// A link or another thing that is not a regular file is an error.
func (d *Dataset) sized(f Finished) (bool, error) {
	if d.bucket != nil {
		return d.bucket.Has(f)
	}
	for name, size := range map[string]int64{f.Name: f.Bytes, IndexName(f.Name): f.Index.Bytes} {
		st, err := d.Lookup(name)
		if st != nil {
			err = notRegular(d.Path(name), st, err)
		}
		if err != nil || st == nil || st.Size() != size {
			return false, err
		}
	}
	return true, nil
}

// unknown returns err, or nil if err says that the file is absent or damaged, which answers the question.
func unknown(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, record.ErrCorrupt) {
		return nil
	}
	return err
}

// Header reads the header of the shard of that name. Anything but a regular file in its place, a
// link among them, is [converters.ErrUnsupported].
func (d *Dataset) Header(name string) (record.FileInfo, error) {
	f, err := openKept(d.Root, name)
	if err != nil {
		return record.FileInfo{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return record.FileInfo{}, err
	}
	return record.CheckHeader(f, f.Name(), st.Size(), record.Options{})
}
