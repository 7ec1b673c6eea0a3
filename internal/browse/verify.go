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
	"github.com/ffconvert/ffconvert/verify"
)

func verifyName(x *set) string { return fmt.Sprintf("verify-%d", x.Number) }

// startVerify starts a verification of a dataset, and redirects to its page.
func startVerify(q *request, x *set) error {
	total, err := x.size()
	if err != nil {
		return err
	}
	j := &job{Name: verifyName(x), say: sayBytes}
	j.moved(0, total)
	q.jobs.start(j, true, func(ctx context.Context, j *job) (any, error) {
		how := q.opts.Verify
		next := how.Progress
		how.Progress = func(samples, bytes int64) {
			j.done.Add(bytes)
			if next != nil {
				next(samples, bytes)
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

// size returns the total bytes of the shards.
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

// verify reads the current files of the dataset.
func (x *set) verify(ctx context.Context, how verify.Options) (*verify.Report, error) {
	m, err := dataset.ReadManifest(x.data.Dir)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case x.data.Dir != x.Path:
		return verify.Files(ctx, []verify.Target{{Path: x.Path, Want: m.ExpectOf(filepath.Base(x.Path))}}, how)
	}
	d, err := dataset.View(x.Path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	report, _, err := d.Verify(ctx, m, how)
	return report, err
}

// Report returns the result of a verification; nil: the job runs, or has failed.
func (j *job) Report() *verify.Report {
	if !j.Over() || j.err != nil {
		return nil
	}
	return j.result.(*verify.Report)
}

// SampleOf returns the sample number that a problem concerns; -1: none.
func (x *set) SampleOf(p verify.Problem) int64 {
	first, ok := x.first[p.Shard]
	if !ok || p.Sample < 0 {
		return -1
	}
	return first + p.Sample
}
