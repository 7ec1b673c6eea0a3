package export

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/direct"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A tarBody writes the samples of one tar.
type tarBody struct {
	*tarWriter
	job      *tarJob
	out      *direct.Stream
	done     *File
	keys     *keySet // nil: keys are numbers
	progress plan.Tally
}

// encoder returns an encoder of members, for one goroutine.
func (b *tarBody) encoder() *encode.Encoder {
	return b.spec.WithForm(func() encode.Form {
		return (&members{ordinal: b.opts.Ordinal, mtime: b.opts.ModTime, number: b.job.first}).encode
	}).NewEncoder()
}

// write writes the samples one after another.
func (b *tarBody) write(ctx context.Context) error {
	return b.src.encode(ctx, b.job.Runs, b.encoder(), func(part int, s *converters.Sample, rec *encode.Record) error {
		if err := b.addKey(part, s.Off, s.Key); err != nil {
			return err
		}
		for _, p := range rec.Parts {
			if _, err := b.out.Write(p); err != nil {
				return err
			}
		}
		b.count(1, int64(rec.Fields), rec.Size)
		return nil
	})
}

func (b *tarBody) count(samples, fields, bytes int64) {
	b.done.Samples += samples
	b.done.Fields += fields
	b.progress.Add(samples, bytes)
}

// addKey returns an error if the tar already has the key.
func (b *tarBody) addKey(part int, off int64, key string) error {
	if b.keys == nil || b.keys.add(key) {
		return nil
	}
	err := place.WithHint(fmt.Errorf("%w: the key %q comes twice in one tar", converters.ErrDuplicate, key), hintKey)
	return b.src.failed(part, &converters.Sample{Key: key, Off: off}, err)
}

// Several readers fill a tar of small samples. Each reads a run and sends its members in chunks, which are
// written in the order of the runs. A reader has enough chunks for a run of small members, and reads on while earlier
// runs are written.
const (
	runSamples   = 8 << 10 // size of an index batch, which is read once
	chunkBytes   = 1 << 20
	readerChunks = 9
)

// A chunk is the members of consecutive samples of a run.
type chunk struct {
	data   []byte
	keys   []byte // concatenated
	ends   []int  // end of each key
	offs   []int64
	fields int64
	home   chan *chunk // receives the chunk after it is written
}

// A tarRun is a run of a tar.
type tarRun struct {
	converters.Run
	full chan *chunk // its members, in order; closed after the last chunk
	err  error       // set before full is closed
}

// writeTogether is write with several readers.
func (b *tarBody) writeTogether(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var reading sync.WaitGroup
	defer reading.Wait()
	defer stop()
	var runs []tarRun
	for _, run := range b.job.Runs {
		for end := run.First + run.Count; run.First < end; run.First += run.Count { // run.Off is not needed
			run.Count = min(runSamples-run.First%runSamples, end-run.First)
			runs = append(runs, tarRun{Run: run, full: make(chan *chunk, readerChunks)})
		}
	}
	var next atomic.Int64
	for range min(b.readers, len(runs)) {
		reading.Go(func() {
			enc, empty := b.encoder(), make(chan *chunk, readerChunks)
			for range readerChunks {
				empty <- &chunk{home: empty}
			}
			for i := next.Add(1); i <= int64(len(runs)); i = next.Add(1) {
				run := &runs[i-1]
				run.err = b.read(ctx, run, enc, empty)
				close(run.full)
			}
		})
	}
	for i := range runs {
		run := &runs[i]
		for c := range run.full {
			if err := b.append(run.Part, c); err != nil {
				return err
			}
			c.home <- c
		}
		if run.err != nil {
			return run.err
		}
	}
	return nil
}

// read sends the members of a run.
func (b *tarBody) read(ctx context.Context, run *tarRun, enc *encode.Encoder, empty chan *chunk) error {
	c := take(ctx, empty)
	if c == nil {
		return ctx.Err()
	}
	err := b.src.encode(ctx, []converters.Run{run.Run}, enc, func(_ int, s *converters.Sample, rec *encode.Record) error {
		if len(c.data) > 0 && len(c.data)+int(rec.Size) > cap(c.data) {
			run.full <- c
			if c = take(ctx, empty); c == nil {
				return ctx.Err()
			}
		}
		if cap(c.data) == 0 {
			c.data = make([]byte, 0, chunkBytes)
		}
		for _, p := range rec.Parts {
			c.data = append(c.data, p...)
		}
		c.keys = append(c.keys, s.Key...)
		c.ends, c.offs = append(c.ends, len(c.keys)), append(c.offs, s.Off)
		c.fields += int64(rec.Fields)
		return nil
	})
	if c != nil {
		run.full <- c
	}
	return err
}

// take returns an empty chunk, or nil after ctx ends.
func take(ctx context.Context, empty chan *chunk) *chunk {
	select {
	case c := <-empty:
		return c
	case <-ctx.Done():
		return nil
	}
}

// append writes a chunk and empties it.
func (b *tarBody) append(part int, c *chunk) error {
	keys, from := string(c.keys), 0
	for i, end := range c.ends {
		if err := b.addKey(part, c.offs[i], keys[from:end]); err != nil {
			return err
		}
		from = end
	}
	if _, err := b.out.Write(c.data); err != nil {
		return err
	}
	b.count(int64(len(c.ends)), c.fields, int64(len(c.data)))
	c.data, c.keys, c.ends, c.offs, c.fields = c.data[:0], c.keys[:0], c.ends[:0], c.offs[:0], 0
	return nil
}
