package filter

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/cache"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

// ask indexes part p of the source, gives its samples to a process and keeps the samples in the answers.
func (f *Filter) ask(ctx context.Context, s *source, p int, a *answer) error {
	from := s.Parts()[p]
	run := converters.Run{Part: p}
	for span, err := range s.Source.Index(ctx, p) {
		switch {
		case err != nil:
			return err
		case span.Shape == nil:
			a.skip(span)
			continue
		case run.Count == 0:
			run.Off = span.Off
		}
		run.Count++
		a.size = max(a.size, span.Off+length(span.Shape))
		a.given.add(span.Entries, 1)
	}
	c, err := f.open()
	if err != nil {
		return err
	}
	request := cache.Request{Keys: []string{randomKey()}, Size: -1, Once: true, Label: from.Name + " (filtered)"}
	leases, err := c.Reserve(ctx, []cache.Request{request})
	if err != nil {
		return cacheError(from.Name, c.Dir, err)
	}
	a.lease = leases[0]
	to := &copyWriter{w: a.lease}
	a.report = &converters.Filtered{Samples: run.Count}
	if from.Path == "" {
		a.report.Size = a.size
	}
	if run.Count > 0 {
		err = f.give(ctx, s, run, to, a)
	}
	if to.err != nil && ctx.Err() == nil {
		err = cacheError(from.Name, c.Dir, to.err)
	}
	if err != nil {
		return err
	}
	copied, err := a.lease.Commit()
	if err != nil {
		return cacheError(from.Name, c.Dir, err)
	}
	a.report.Content, a.report.Bytes = copied.Sums.Digest(), copied.Size
	if f.opts.Check != nil {
		if err := f.opts.Check(s.first+p, from.Name, a.report); err != nil {
			return err
		}
	}
	a.samples = s.answered.WithParts(0, []converters.Part{{
		Name: from.Name + " (filtered)", Path: copied.Path, Size: copied.Size, ModTime: copied.ModTime,
		Copy: &converters.Copy{Content: a.report.Content, Check: copied.Sums.Check},
	}})
	return nil
}

// progress returns a function that reports to Options.Progress how many of a part's samples have answers. size is
// the part's, in bytes; each sample counts as an equal share of it.
func (f *Filter) progress(samples, size int64) func(done int64) {
	if f.opts.Progress == nil {
		return func(int64) {}
	}
	was, wasBytes := int64(0), int64(0)
	return func(done int64) {
		bytes := int64(float64(size) * float64(done) / float64(samples))
		f.opts.Progress(done-was, bytes-wasBytes)
		was, wasBytes = done, bytes
	}
}

// length returns the total bytes of the fields of a sample.
func length(s *converters.Sample) int64 {
	n := int64(0)
	for i := range s.Fields {
		n += s.Fields[i].Value.Len()
	}
	return n
}

// give writes a run, the samples of a whole part, to a process, and the samples of its answers to to. It counts
// the answers in a.
func (f *Filter) give(ctx context.Context, s *source, run converters.Run, to io.Writer, a *answer) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	from := s.Parts()[run.Part]
	out := bufio.NewWriterSize(to, 256<<10)
	entries, gone := a.given.all(), converters.Span{Skip: dropped}
	p := &part{name: from.Name, samples: s.Source.Read(reading, run), n: run.Count, enc: s.spec(run.Part).NewEncoder(), out: out,
		progress: f.progress(run.Count, max(a.size, from.Size))}
	p.answer = func(samples int64) {
		n := entries()
		if samples == 0 {
			a.report.Dropped++
			gone.Entries += n
			return
		}
		a.report.Added += samples - 1
		a.entries.add(n, 1)
		a.entries.add(0, samples-1)
	}
	err := f.work(ctx, func(w *worker) (bool, error) { return w.do(ctx, p) })
	if err == nil {
		err = out.Flush()
	}
	if a.report.Dropped > 0 {
		a.skip(&gone)
	}
	return err
}

// A copyWriter keeps the write error of the copy, to distinguish it from an error of the process.
type copyWriter struct {
	w   *cache.Lease
	err error
}

func (c *copyWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	if err != nil {
		c.err = err
	}
	return n, err
}

// cacheError adds the place to an error of writing the answers of a part.
func cacheError(name, dir string, err error) error {
	e := place.IOError(name, fmt.Errorf("what the filter answered, kept in %s: %w", text.Name(dir), err))
	e.Hint = "see to the directory, or name another option cache-dir"
	if errors.Is(err, cache.ErrQuota) {
		e.Hint = "raise option cache-size: it must have room for all samples that the filter answers"
	}
	return e
}

func randomKey() string {
	var key [32]byte
	rand.Read(key[:])
	return hex.EncodeToString(key[:])
}
