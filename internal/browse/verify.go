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
	if x.Manifest != nil {
		for i := range x.Manifest.Shards {
			total += x.Manifest.Shards[i].Bytes
		}
		return total, nil
	}
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

// verify reads the current files of the dataset. Shards in an object store are fetched, one while another is read.
func (x *set) verify(ctx context.Context, how verify.Options) (*verify.Report, error) {
	view := x.view
	switch {
	case view != nil:
		how.Workers = max(how.Workers, 2)
	case x.data.Dir != x.Path:
		m, err := dataset.ReadManifest(x.data.Dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return verify.Files(ctx, []verify.Target{{Path: x.Path, Want: m.ExpectOf(filepath.Base(x.Path))}}, how)
	default:
		view = func(context.Context) (*dataset.Dataset, error) { return dataset.View(x.Path) }
	}
	d, err := view(ctx)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	m, err := d.Manifest()
	if err != nil {
		return nil, err
	}
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
