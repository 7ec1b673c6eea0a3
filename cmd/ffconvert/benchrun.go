package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/record"
)

// benchOptions say what a [Run] reads, and for how long.
type benchOptions struct {
	Batch    int           // samples of a batch
	Batches  int           // number of batches to read; 0: as many as begin within Duration
	Duration time.Duration // after this time no batch is begun
	Jobs     int           // batches read at once
	Seed     uint64        // of the random order
	Of       benchSize     // of the dataset, of which the reader may have one shard; zero: the reader's
}

// A benchSize counts shards and samples.
type benchSize struct {
	Shards  int   `json:"shards"`
	Samples int64 `json:"samples"`
}

// A benchRun reads batches with several goroutines.
type benchRun struct {
	benchOptions
	reader *record.Reader
	start  time.Time

	mu      sync.Mutex // guards what follows
	rng     *rand.Rand
	order   []int // all samples, 8 bytes each; shuffled again after the last
	next    int   // index in order of the next sample to read
	left    int   // batches still to read, if their number is limited
	took    []time.Duration
	read    []bool // samples that were read, a byte each
	samples int64  // with those that came again
	bytes   int64
}

func newBenchRun(opts benchOptions, r *record.Reader) *benchRun {
	b := &benchRun{benchOptions: opts, reader: r, left: opts.Batches, rng: rand.New(rand.NewPCG(opts.Seed, 0)), order: make([]int, r.Len()), read: make([]bool, r.Len())}
	for i := range b.order {
		b.order[i] = i
	}
	b.shuffle()
	if b.Of == (benchSize{}) {
		b.Of = benchSize{len(r.Files()), int64(r.Len())}
	}
	return b
}

// Run reads until the batches or the time are used up, or a sample is bad. The report is never nil.
func (b *benchRun) Run(ctx context.Context) (*benchReport, error) {
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

// A report holds the measurements of a [Run]. Bytes are bytes of samples, without headers.
type benchReport struct {
	Samples          int64        `json:"samples"`
	Bytes            int64        `json:"bytes"`
	Seconds          float64      `json:"seconds"`
	SamplesPerSecond float64      `json:"samples_per_second"`
	BytesPerSecond   float64      `json:"bytes_per_second"`
	Batches          int          `json:"batches"`
	BatchSeconds     batchSeconds `json:"batch_seconds"`
	Read             benchSize    `json:"read"` // samples that were read, each once, and their shards
	Of               benchSize    `json:"of"`   // what the dataset has
	Backend          string       `json:"backend"`
	QueueDepth       int          `json:"queue_depth"`
	Direct           bool         `json:"direct"`       // read with O_DIRECT, except CachedBytes
	CachedBytes      int64        `json:"cached_bytes"` // from the page cache
	Fallback         string       `json:"fallback,omitempty"`
	Problems         []string     `json:"problems"`
}

// batchSeconds are the percentiles of the time that a batch took.
type batchSeconds struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	Max float64 `json:"max"`
}

// report returns the report, and err with its names escaped for a terminal.
func (b *benchRun) report(took time.Duration, err error) (*benchReport, error) {
	stats := b.reader.BatchStats()
	r := &benchReport{
		Samples: b.samples, Bytes: b.bytes, Seconds: took.Seconds(),
		SamplesPerSecond: float64(b.samples) / took.Seconds(), BytesPerSecond: float64(b.bytes) / took.Seconds(),
		Batches: len(b.took), BatchSeconds: secondsOf(b.took), Read: b.sizeRead(), Of: b.Of,
		Backend: stats.Backend.String(), QueueDepth: stats.Depth, Direct: stats.Direct, CachedBytes: stats.Cached, Fallback: stats.Fallback,
		Problems: []string{},
	}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	var errs []error
	for _, err := range all {
		if err != nil {
			errs = append(errs, terminal.Plain(err))
			r.Problems = append(r.Problems, err.Error())
		}
	}
	return r, errors.Join(errs...)
}

// sizeRead counts the samples that were read, and their shards.
func (b *benchRun) sizeRead() (s benchSize) {
	first := 0
	for _, f := range b.reader.Files() {
		here := int64(0)
		for _, read := range b.read[first : first+int(f.Samples)] {
			if read {
				here++
			}
		}
		if first += int(f.Samples); here > 0 {
			s.Shards++
			s.Samples += here
		}
	}
	return s
}

func secondsOf(took []time.Duration) batchSeconds {
	if len(took) == 0 {
		return batchSeconds{}
	}
	slices.Sort(took)
	rank := func(percent int) float64 { return took[(len(took)*percent+99)/100-1].Seconds() }
	return batchSeconds{P50: rank(50), P95: rank(95), Max: rank(100)}
}

func (r *benchReport) Print(w io.Writer) error {
	from := "with O_DIRECT"
	if !r.Direct {
		from = "through the page cache"
	}
	if r.Backend == aio.Pread.String() {
		from += "; no AIO: " + r.Fallback
	}
	if r.CachedBytes > 0 {
		from += fmt.Sprintf("; %s from the page cache", humanize.Bytes(uint64(r.CachedBytes)))
	}
	ms := func(seconds float64) string { return fmt.Sprintf("%.1f ms", seconds*1000) }
	_, err := fmt.Fprintf(w, "%s, %s in %.2f s: %.0f samples/s, %.0f MB/s by %s, queue depth %d, %s; %s, p50 %s, p95 %s, max %s; read %s of %s in %s of %s\n",
		terminal.Counted(r.Samples, "sample"), humanize.Bytes(uint64(r.Bytes)), r.Seconds, r.SamplesPerSecond, r.BytesPerSecond/1e6,
		r.Backend, r.QueueDepth, from, terminal.Counted(int64(r.Batches), "batch"), ms(r.BatchSeconds.P50), ms(r.BatchSeconds.P95), ms(r.BatchSeconds.Max),
		humanize.Comma(r.Read.Samples), terminal.Counted(r.Of.Samples, "sample"), humanize.Comma(int64(r.Read.Shards)), terminal.Counted(int64(r.Of.Shards), "shard"))
	return err
}
