package look

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
)

// counts are numbers of shards and of samples.
type counts struct {
	Shards  int   `json:"shards"`
	Samples int64 `json:"samples"`
}

// A benchReport holds the measurements. Bytes are bytes of samples, without headers.
type benchReport struct {
	Samples          int64        `json:"samples"`
	Bytes            int64        `json:"bytes"`
	Seconds          float64      `json:"seconds"`
	SamplesPerSecond float64      `json:"samples_per_second"`
	BytesPerSecond   float64      `json:"bytes_per_second"`
	Batches          int          `json:"batches"`
	BatchSeconds     batchSeconds `json:"batch_seconds"`
	Read             counts       `json:"read"` // samples that were read, each once, and their shards
	Of               counts       `json:"of"`   // what the dataset has
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
		Batches: len(b.took), BatchSeconds: secondsOf(b.took), Read: b.read(), Of: b.of,
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

// read counts the samples that were read, each once, and their shards.
func (b *benchRun) read() counts {
	c := counts{Samples: b.once}
	for _, read := range b.shards {
		if read {
			c.Shards++
		}
	}
	return c
}

func secondsOf(took []time.Duration) batchSeconds {
	if len(took) == 0 {
		return batchSeconds{}
	}
	slices.Sort(took)
	rank := func(percent int) float64 { return took[(len(took)*percent+99)/100-1].Seconds() }
	return batchSeconds{P50: rank(50), P95: rank(95), Max: rank(100)}
}

func (r *benchReport) print(w io.Writer) error {
	from := "with O_DIRECT"
	if !r.Direct {
		from = "through the page cache"
	}
	if r.Fallback != "" {
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
