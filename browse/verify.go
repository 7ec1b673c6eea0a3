package browse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/verify"
)

func verifyName(x *set) string { return fmt.Sprintf("verify-%d", x.Number) }

// startVerify begins to verify a dataset, and leads to its page.
func (q *request) startVerify() error {
	x, err := q.set()
	if err != nil {
		return err
	}
	total, err := x.size()
	if err != nil {
		return err
	}
	j := &job{Name: verifyName(x), say: sayBytes}
	j.tell(0, total)
	q.jobs.start(j, true, func(ctx context.Context, j *job) (any, error) {
		how := q.opts.Verify
		told := how.Progress
		how.Progress = func(samples, bytes int64) {
			j.done.Add(bytes)
			if told != nil {
				told(samples, bytes)
			}
		}
		return x.verify(ctx, how)
	})
	http.Redirect(q.w, q.r, x.link("", nil), http.StatusSeeOther)
	return nil
}

func sayBytes(done, total int64, d time.Duration) string {
	return fmt.Sprintf("%s of %s read, %s/s", binary(done), binary(total), humanize.Bytes(uint64(float64(done)/max(d.Seconds(), 1e-3))))
}

// size returns the bytes of the shards.
func (x *set) size() (int64, error) {
	total := int64(0)
	for _, f := range x.data.Files() {
		st, err := os.Stat(f.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		if err == nil {
			total += st.Size()
		}
	}
	return total, nil
}

// verify reads the dataset again as it is now on disk.
func (x *set) verify(ctx context.Context, how verify.Options) (*verify.Report, error) {
	st, err := os.Stat(x.Path)
	if err != nil {
		return nil, err
	}
	m, err := dataset.ReadManifest(x.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if st.IsDir() && m != nil {
		d, err := dataset.View(x.Path)
		if err != nil {
			return nil, err
		}
		defer d.Close()
		report, _, err := d.Verify(ctx, m, how)
		return report, err
	}
	if st.IsDir() {
		return verify.Dataset(ctx, x.Path, nil, how)
	}
	target := verify.Target{Path: x.Path}
	if m != nil {
		for _, e := range m.Expect() {
			if e.Name == filepath.Base(x.Path) {
				target.Want = &e
			}
		}
	}
	return verify.Files(ctx, []verify.Target{target}, how)
}

// A check is a verification as a page shows it.
type check struct {
	*job
	Report   *verify.Report // nil: it is under way, or failed
	Problems []problem
	Rate     string
}

// A problem is one that a verification found.
type problem struct {
	Text   string
	Sample int64 // number in the dataset; -1: not about a sample
}

// checkOf returns what a page shows of a verification.
func (x *set) checkOf(j *job) *check {
	c := &check{job: j}
	if !j.Over() || j.err != nil {
		return c
	}
	c.Report = j.result.(*verify.Report)
	c.Rate = humanize.Bytes(uint64(1e6*c.Report.MBPerSecond())) + "/s"
	starts := x.starts()
	for _, p := range c.Report.Problems {
		shown := problem{text.Line(p.String()), -1}
		if first, ok := starts[p.Shard]; ok && p.Sample >= 0 {
			shown.Sample = first + p.Sample
		}
		c.Problems = append(c.Problems, shown)
	}
	return c
}

// Count returns how many problems were found.
func (c *check) Count() int64 { return int64(len(c.Problems)) + c.Report.More }
