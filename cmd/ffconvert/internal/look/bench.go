package look

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/cached"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/loader"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A Bench measures how fast batches of samples are read in random order.
type Bench struct {
	Batch    int           // samples of a batch
	Batches  int           // number of batches to read; 0: as many as begin within Duration
	Duration time.Duration // after this time no batch is begun
	Jobs     int           // batches read at once
	Seed     uint64        // of the random order
	Record   record.Options
	Format   option.Choice // text or json
	Cached   Cached        // where samples of a dataset in an object store are kept
}

// Run reads batches of a dataset or a shard, and writes the measurements.
func (b Bench) Run(ctx context.Context, path string, stdout io.Writer) error {
	r, of, end, err := b.open(ctx, path)
	if err != nil {
		return err
	}
	defer end()
	if r.Len() == 0 {
		return terminal.Plain(fmt.Errorf("%s: %w to read", path, plan.ErrEmpty))
	}
	run, err := newBenchRun(b, r, of)
	if err != nil {
		return err
	}
	report, err := run.run(ctx)
	if bad := (*record.FormatError)(nil); err != nil && (ctx.Err() != nil || !errors.As(err, &bad)) {
		return err // no sample was found to be bad: there is nothing to report
	}
	if b.Format.Value == "json" {
		return errors.Join(terminal.NewJSONEncoder(stdout).Encode(report), err)
	}
	return errors.Join(report.print(stdout), err)
}

// open opens a dataset or a shard, or the URL of a dataset. end closes it.
func (b *Bench) open(ctx context.Context, path string) (r *cached.Reader, of counts, end func(), err error) {
	if convert.IsURL(path) {
		return b.openURL(ctx, path)
	}
	shards, of, err := shardsOf(path)
	if err != nil {
		return nil, of, nil, err
	}
	r = new(cached.Reader)
	if shards != nil {
		r.Reader, err = record.OpenFiles(shards, b.Record)
	} else {
		r.Reader, err = record.Open(path, b.Record)
	}
	if errors.Is(err, record.ErrLegacy) {
		return nil, of, nil, terminal.Plain(err)
	}
	if err != nil {
		return nil, of, nil, terminal.Plain(cliflag.NotShards(path, err))
	}
	return r, of, func() { r.Close() }, nil
}

// openURL opens a dataset in an object store.
func (b *Bench) openURL(ctx context.Context, url string) (r *cached.Reader, of counts, end func(), err error) {
	x, err := cached.Open(ctx, url, b.Cached.options(func(text string) { fmt.Fprintln(os.Stderr, "ffconvert:", text) }))
	if err != nil {
		return nil, of, nil, err
	}
	files, err := x.Files()
	r = new(cached.Reader)
	if err == nil {
		r.Reader, err = record.OpenFiles(files, b.Record)
	}
	if err != nil {
		return nil, of, nil, errors.Join(err, x.Close())
	}
	r.Add(x, 0)
	return r, of, func() { r.Close(); x.Close() }, nil
}

// shardsOf returns the shards that the manifest of a directory names, and how many shards and samples the dataset has; no shards if
// path is a file, or a directory without a manifest. A dataset that is not finished, or lacks a shard of its manifest, is an error.
func shardsOf(path string) (shards []record.FileInfo, of counts, err error) {
	dir, name := path, ""
	if st, err := os.Stat(path); err == nil && !st.IsDir() {
		dir, name = filepath.Dir(path), filepath.Base(path)
	}
	m, err := dataset.ReadShards(dir)
	if errors.Is(err, fs.ErrNotExist) && name == "" {
		if _, err := os.Lstat(filepath.Join(path, dataset.WorkDir)); err != nil {
			return nil, of, nil // shards that another program wrote
		}
		return nil, of, &place.Error{Where: path, Off: -1, Err: dataset.ErrUnfinished, Kind: place.Unfinished}
	}
	if err != nil {
		return nil, of, nil // verify reports a damaged manifest
	}
	ours := false
	for i := range m.Shards {
		s := &m.Shards[i]
		of.Shards++
		of.Samples += s.Samples
		ours = ours || s.Name == name
		shards = append(shards, record.FileInfo{Path: filepath.Join(dir, s.Name), Samples: s.Samples, Size: s.Bytes, HeaderCRC: s.HeaderCRC})
	}
	switch {
	case ours:
		return nil, of, nil
	case name != "":
		return nil, counts{}, nil
	}
	for _, s := range shards {
		if _, err := os.Lstat(s.Path); errors.Is(err, fs.ErrNotExist) {
			return nil, of, &place.Error{Where: s.Path, Off: -1, Err: dataset.ErrMissing, Hint: "ffconvert repair " + dir}
		}
	}
	return shards, of, nil
}

// A benchRun reads the batches of a Bench.
type benchRun struct {
	Bench
	reader *cached.Reader
	of     counts                                  // of the dataset, of which the reader may have one shard
	order  func(dst []int64, lo, hi int64) []int64 // the samples at positions of the order, which repeats itself
	start  time.Time

	mu      sync.Mutex // guards the fields below
	next    int64      // position of the next sample to read
	left    int        // batches still to read, if their number is limited
	took    []time.Duration
	shards  []bool // whether a sample of each was read
	once    int64  // samples that were read, each counted once
	samples int64  // read, repeated ones included
	bytes   int64
}

func newBenchRun(opts Bench, r *cached.Reader, of counts) (*benchRun, error) {
	if of == (counts{}) {
		of = counts{len(r.Files()), int64(r.Len())}
	}
	var sizes []int64
	for _, f := range r.Files() {
		sizes = append(sizes, f.Samples)
	}
	order, err := loader.Order{Seed: opts.Seed, Batch: int64(opts.Batch)}.Samples(sizes, 0)
	return &benchRun{Bench: opts, reader: r, of: of, order: order, left: opts.Batches, shards: make([]bool, len(sizes))}, err
}

// run reads until the batches or the time are used up, or a sample is bad. The report is never nil.
func (b *benchRun) run(ctx context.Context) (*benchReport, error) {
	b.start = time.Now()
	g, ctx := errgroup.WithContext(ctx)
	for range b.Jobs {
		g.Go(func() error { return b.job(ctx) })
	}
	err := g.Wait()
	return b.report(time.Since(b.start), err)
}

// job reads one batch after another into the same memory.
func (b *benchRun) job(ctx context.Context) error {
	var numbers []int64
	indices := make([]int, b.Batch)
	var samples [][]byte
	for at, more := b.deal(); more; at, more = b.deal() {
		numbers = b.order(numbers[:0], at, at+int64(b.Batch))
		for k, n := range numbers {
			indices[k] = int(n)
		}
		start := time.Now()
		var err error
		if samples, err = b.reader.ReadBatch(ctx, indices, samples); err != nil {
			return err
		}
		if err := b.add(at, indices, samples, time.Since(start)); err != nil {
			return err
		}
	}
	return nil
}

// deal returns the position of the first sample of the next batch; more is false after the last batch.
func (b *benchRun) deal() (at int64, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.Batches == 0 && time.Since(b.start) >= b.Duration, b.Batches > 0 && b.left == 0:
		return 0, false
	}
	b.left--
	at = b.next
	b.next += int64(b.Batch)
	return at, true
}

// add counts a batch that was read, which begins at position at.
func (b *benchRun) add(at int64, indices []int, samples [][]byte, took time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, i := range indices {
		k, _, err := b.reader.Extent(i)
		if err != nil {
			return err
		}
		b.shards[k] = true
	}
	b.once += max(0, min(int64(len(indices)), int64(b.reader.Len())-at))
	b.took = append(b.took, took)
	b.samples += int64(len(samples))
	for _, s := range samples {
		b.bytes += int64(len(s))
	}
	return nil
}
