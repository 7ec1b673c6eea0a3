package look

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/place"
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
}

// Run reads batches of a dataset or a shard, and writes the measurements.
func (b Bench) Run(ctx context.Context, path string, stdout io.Writer) error {
	if err := convert.LocalPath(path); err != nil {
		return err
	}
	paths, of, err := shardsOf(path)
	if err != nil {
		return err
	}
	var r *record.Reader
	if paths != nil {
		r, err = record.OpenFiles(paths, b.Record)
	} else {
		r, err = record.Open(path, b.Record)
	}
	if errors.Is(err, record.ErrLegacy) {
		return terminal.Plain(fmt.Errorf("%w%s", err, cliflag.Legacy))
	}
	if err != nil {
		return terminal.Plain(cliflag.NotShards(path, err))
	}
	defer r.Close()
	if r.Len() == 0 {
		return terminal.Plain(fmt.Errorf("%s: %w to read", path, plan.ErrEmpty))
	}
	report, err := newBenchRun(b, r, of).run(ctx)
	if bad := (*record.FormatError)(nil); err != nil && (ctx.Err() != nil || !errors.As(err, &bad)) {
		return err // no sample was found to be bad: there is nothing to report
	}
	if b.Format.Value == "json" {
		return errors.Join(terminal.NewJSONEncoder(stdout).Encode(report), err)
	}
	return errors.Join(report.print(stdout), err)
}

// shardsOf returns the shards that the manifest of a directory names, and how many shards and samples the dataset has; no paths if
// path is a file, or a directory without a manifest. A dataset that is not finished, or lacks a shard of its manifest, is an error.
func shardsOf(path string) (paths []string, of counts, err error) {
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
		paths = append(paths, filepath.Join(dir, s.Name))
	}
	switch {
	case ours:
		return nil, of, nil
	case name != "":
		return nil, counts{}, nil
	}
	for _, path := range paths {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, of, &place.Error{Where: path, Off: -1, Err: dataset.ErrMissing, Hint: "ffconvert repair " + dir}
		}
	}
	return paths, of, nil
}

// A benchRun reads the batches of a Bench.
type benchRun struct {
	Bench
	reader *record.Reader
	of     counts // of the dataset, of which the reader may have one shard
	start  time.Time

	mu      sync.Mutex // guards the fields below
	rng     *rand.Rand
	order   []int // all samples, 8 bytes each; shuffled again after the last
	next    int   // index in order of the next sample to read
	left    int   // batches still to read, if their number is limited
	took    []time.Duration
	read    []bool // whether each sample was read
	samples int64  // read, repeated ones included
	bytes   int64
}

func newBenchRun(opts Bench, r *record.Reader, of counts) *benchRun {
	if of == (counts{}) {
		of = counts{len(r.Files()), int64(r.Len())}
	}
	b := &benchRun{Bench: opts, reader: r, of: of, left: opts.Batches, rng: rand.New(rand.NewPCG(opts.Seed, 0)), order: make([]int, r.Len()), read: make([]bool, r.Len())}
	for i := range b.order {
		b.order[i] = i
	}
	b.shuffle()
	return b
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
	indices := make([]int, b.Batch)
	var samples [][]byte
	for b.deal(indices) {
		start := time.Now()
		var err error
		if samples, err = b.reader.ReadBatch(ctx, indices, samples); err != nil {
			return err
		}
		b.add(indices, samples, time.Since(start))
	}
	return nil
}

// deal fills indices with the samples of the next batch; it returns false after the last batch.
func (b *benchRun) deal(indices []int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.Batches == 0 && time.Since(b.start) >= b.Duration, b.Batches > 0 && b.left == 0:
		return false
	}
	b.left--
	for len(indices) > 0 {
		if b.next == len(b.order) {
			b.shuffle()
		}
		n := copy(indices, b.order[b.next:])
		b.next += n
		indices = indices[n:]
	}
	return true
}

func (b *benchRun) shuffle() {
	b.rng.Shuffle(len(b.order), func(i, j int) { b.order[i], b.order[j] = b.order[j], b.order[i] })
	b.next = 0
}

func (b *benchRun) add(indices []int, samples [][]byte, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, i := range indices {
		b.read[i] = true
	}
	b.took = append(b.took, took)
	b.samples += int64(len(samples))
	for _, s := range samples {
		b.bytes += int64(len(s))
	}
}
