package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/ffr"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/direct"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// A filled tar is complete, in a temporary file that is not synced yet.
type filled struct {
	file *files.Temp
	done finished
}

// writeAll writes the tars that are not finished, several at once. While some are being filled, as many
// are synced and re-read.
func (w *tarWriter) writeAll(ctx context.Context) error {
	var unfinished []*tarJob
	total := int64(0)
	for i := range w.jobs {
		if _, done := w.done[w.jobs[i].name]; !done {
			unfinished = append(unfinished, &w.jobs[i])
			total += w.jobs[i].size
		}
	}
	phase := "write"
	if !w.opts.NoVerify {
		phase += " + verify"
	}
	w.progress = plan.StartPhase(w.opts.Progress, phase, total)
	workers := max(1, min(w.opts.workers(), len(unfinished)))
	w.readers = w.opts.workers() / workers
	jobs, full := make(chan *tarJob), make(chan *filled)
	finishing, whole := errgroup.WithContext(ctx)
	for range workers {
		finishing.Go(func() error { return w.finishAll(whole, full, verify.Share(w.opts.AIO, workers)) })
	}
	filling, ctx := errgroup.WithContext(whole)
	filling.Go(func() error {
		defer close(jobs)
		for _, j := range unfinished {
			select {
			case jobs <- j:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range workers {
		filling.Go(func() error { return w.fillAll(ctx, jobs, full, workers) })
	}
	err := filling.Wait()
	close(full)
	if first := finishing.Wait(); first != nil && (err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return first
	}
	return err
}

// fillAll fills tars one after another, in its own memory.
func (w *tarWriter) fillAll(ctx context.Context, jobs <-chan *tarJob, full chan<- *filled, workers int) (err error) {
	blocks, err := direct.NewBlocks(2 + min(6, 16/workers)&^1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, blocks.Free()) }()
	for j := range jobs {
		f, err := w.fill(ctx, j, blocks)
		if err != nil {
			return err
		}
		select {
		case full <- f:
		case <-ctx.Done():
			f.file.Discard()
			return ctx.Err()
		}
	}
	return nil
}

func (w *tarWriter) fill(ctx context.Context, j *tarJob, blocks *direct.Blocks) (*filled, error) {
	f, err := w.Create(j.name)
	if err != nil {
		return nil, err
	}
	full := &filled{file: f, done: finished{File: File{Name: j.name}}}
	if err = direct.Reserve(f.File, j.size); err != nil {
		err = fmt.Errorf("reserve %s for %s: %w", plan.BytesText(j.size), j.name, err)
	} else {
		out := direct.NewStream(f.File, blocks.Empty)
		err = w.samples(ctx, j, out, &full.done.File)
		if late := out.Close(); err == nil {
			err = late
		}
		full.done.Bytes, full.done.CRC = out.Sum()
	}
	if err == nil && (full.done.Samples != j.Samples || full.done.Bytes != j.size) {
		err = fmt.Errorf("%s: %w: %d samples of %d bytes were indexed for it, it has %d of %d", j.name, converters.ErrChanged, j.Samples, j.size, full.done.Samples, full.done.Bytes)
	}
	if err != nil {
		f.Discard()
		return nil, err
	}
	return full, nil
}

// samples writes the members of a tar and its trailer.
func (w *tarWriter) samples(ctx context.Context, j *tarJob, out *direct.Stream, done *File) error {
	body := &tarBody{tarWriter: w, job: j, out: out, done: done, progress: plan.Tally{To: w.progress.Add}}
	defer body.progress.Flush()
	if !w.opts.Ordinal {
		body.keys = newKeySet()
	}
	write := body.write
	_, shards := w.src.Samples.(*ffr.Source) // they are read from any sample on
	if shards && w.readers > 1 && !w.opts.Ordinal && w.opts.Choice.IsZero() && j.Bytes <= j.Samples*plan.SmallRecord {
		write = body.writeTogether
	}
	if err := write(ctx); err != nil {
		return err
	}
	at, _ := out.Seek(0, 1)
	for end := trailer + (recordSize-(at+trailer)%recordSize)%recordSize; end > 0; {
		n, err := out.Write(zeros[:min(end, recordSize)])
		if err != nil {
			return err
		}
		end -= int64(n)
	}
	return nil
}

// finishAll finishes tars until the channel is closed.
func (w *tarWriter) finishAll(ctx context.Context, full <-chan *filled, reread aio.Options) (err error) {
	var r *aio.Reader
	if !w.opts.NoVerify {
		if r, err = aio.NewReader(reread); err != nil {
			return err
		}
		defer func() {
			err = errors.Join(err, r.Close())
			w.mu.Lock()
			w.backend = cmp.Or(w.backend, r.Stats().Backend.String())
			w.mu.Unlock()
		}()
	}
	for f := range full {
		if err := w.finish(ctx, f, r); err != nil {
			f.file.Discard()
			return err
		}
	}
	return nil
}

// finish syncs a tar, re-reads and compares it, and renames it to its final name.
func (w *tarWriter) finish(ctx context.Context, f *filled, r *aio.Reader) error {
	if err := f.file.Sync(); err != nil {
		return err
	}
	sum := verify.Sum{Name: f.done.Name, Bytes: f.done.Bytes, CRC: f.done.CRC}
	if r != nil {
		res, err := dataset.ReadBack(ctx, r, f.file, sum, verify.Options{})
		if err != nil {
			return err
		}
		f.done.Verified, f.done.From = true, res.From
	}
	w.mu.Lock()
	w.kept = true // the tar may have its name now, so the journal must stay if a later step fails
	w.mu.Unlock()
	err := f.file.Commit(f.done.Name)
	if errors.Is(err, fs.ErrExist) { // an earlier run stopped before it wrote the journal line
		err = w.compare(ctx, sum, w.opts.AIO)
	}
	if err = cmp.Or(err, files.SyncDir(w.Root, path.Dir(f.done.Name))); err != nil {
		return err
	}
	w.mu.Lock()
	w.written++
	w.mu.Unlock()
	return w.add(f.done)
}

// compare returns an error unless an existing file has the same bytes.
func (t *target) compare(ctx context.Context, sum verify.Sum, how aio.Options) error {
	r, err := aio.NewReader(how)
	if err != nil {
		return err
	}
	res, err := verify.SumFile(ctx, r, t.Root, sum, verify.Options{})
	if err = cmp.Or(err, res.Err()); place.KindOf(err) == place.Corrupt {
		err = t.occupied(sum.Name, "another file has this name; name another directory, or remove it")
	}
	return errors.Join(err, r.Close())
}
