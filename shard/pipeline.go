package shard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A pipeline appends the records of a shard to the shard and to its index, in plan order, in the goroutine of
// run. The runs of the shard are divided into segments.
//
// Small records may be read and encoded by several readers, so that all processors work on one shard
// (BenchmarkRows): a reader reads a segment, at its own pace, and its batches are appended after all
// segments before it. A single reader reads all segments in the goroutine of run. Large records have a single reader,
// because handing each of them over costs more than reading it (docs/decisions/005-workers.md).
type pipeline struct {
	plan     *plan.Plan
	writer   *record.Writer
	index    *indexFile
	segments []*segment
	want     int64 // number of samples of the shard
	alone    bool  // one reader reads all segments, in the goroutine of run

	next    atomic.Int64 // number of the segment to read next
	samples int64        // number of appended samples

	stop atomic.Int64 // segments with this number or a greater one are not needed, because an earlier one failed
	mu   sync.Mutex
	err  error // the error of the first failed segment
}

// A segment is consecutive runs. One reader reads it, and closes full after its last batch.
type segment struct {
	at   int // number of the segment
	runs []converters.Run
	full chan *batch // its records, in order
}

// segmentsOf groups runs into segments of at most limit samples.
func segmentsOf(runs []converters.Run, limit int64) (segments []*segment) {
	from, samples := 0, int64(0)
	cut := func(to int) {
		if from < to {
			segments = append(segments, &segment{at: len(segments), runs: runs[from:to], full: make(chan *batch, batches+1)})
		}
		from, samples = to, 0
	}
	for i, r := range runs {
		if samples+r.Count > limit {
			cut(i)
		}
		samples += r.Count
	}
	cut(len(runs))
	return segments
}

func newPipeline(pl *plan.Plan, s *plan.Shard, w *record.Writer, index *indexFile) *pipeline {
	each := s.Bytes / max(1, s.Samples)
	p := &pipeline{plan: pl, writer: w, index: index, segments: segmentsOf(s.Runs, plan.RunLimit(each)), want: s.Samples, alone: each > plan.SmallRecord}
	p.stop.Store(math.MaxInt64)
	return p
}

// use prepares as many readers as the shard needs for it, and returns these.
func (p *pipeline) use(readers []*reader, progress func(samples, bytes int64)) []*reader {
	n := max(1, min(len(readers), len(p.segments)))
	if p.alone = p.alone || n == 1; p.alone {
		n = 1
	}
	for _, r := range readers[:n] {
		r.pipeline, r.progress, r.fields, r.damage = p, plan.Tally{To: progress}, 0, damage{}
		r.batch.reset()
	}
	return readers[:n]
}

// take returns the next segment to be read, nil after the last.
func (p *pipeline) take() *segment {
	if i := p.next.Add(1) - 1; i < int64(len(p.segments)) {
		return p.segments[i]
	}
	return nil
}

// run appends the records that the readers read from the source. It returns the error of the first failed segment.
func (p *pipeline) run(ctx context.Context, src converters.Source, readers []*reader) error {
	if p.alone {
		readers[0].read(ctx, src)
		return p.err
	}
	var reading sync.WaitGroup
	defer reading.Wait()
	for _, r := range readers {
		reading.Go(func() { r.read(ctx, src) })
	}
	for _, s := range p.segments {
		for b := range s.full {
			if p.wants(s) {
				if err := p.append(b); err != nil {
					p.fail(s, err)
				}
			}
			b.home <- b
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// wants reports whether the records of a segment are still needed: neither it nor an earlier segment has failed.
func (p *pipeline) wants(s *segment) bool { return int64(s.at) < p.stop.Load() }

// errStopped ends reading a segment after an error in an earlier one.
var errStopped = errors.New("stopped by an error before")

// fail records the error of a segment and stops all later ones.
func (p *pipeline) fail(s *segment, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := int64(s.at); at < p.stop.Load() {
		p.stop.Store(at)
		p.err = err
	}
}

// A batch is consecutive records of a segment: small ones, concatenated in data, or one large record.
type batch struct {
	data    []byte
	large   [][]byte // pieces of the large record, valid until the batch is sent to home
	rows    []entry
	keys    []byte // concatenated, if the index has keys
	keyEnds []int
	at      []record.Extent // sizes and known CRCs; in the shard, after they are appended
	home    chan *batch     // receives the batch after it is appended
}

// make allocates room for a full batch, without keys.
func (b *batch) make() {
	b.data = make([]byte, 0, batchBytes+plan.SmallRecord)
	b.at = make([]record.Extent, 0, batchRows)
	b.rows = make([]entry, 0, batchRows)
}

func (b *batch) reset() {
	b.data, b.at, b.rows, b.keys, b.keyEnds = b.data[:0], b.at[:0], b.rows[:0], b.keys[:0], b.keyEnds[:0]
}

func (b *batch) addKey(key string) {
	b.keys = append(b.keys, key...)
	b.keyEnds = append(b.keyEnds, len(b.keys))
}

// An entry is the index row of a sample, without its key.
type entry struct {
	off    int64 // offset in its part
	label  int64
	part   int32
	labels bool // it has a label
}

func (p *pipeline) append(b *batch) error {
	if left := p.want - p.samples; left < int64(len(b.rows)) {
		row := &b.rows[left]
		return p.plan.ErrorAt(int(row.part), row.off, string(b.key(int(left))), fmt.Errorf("%w: there are more samples than were indexed", converters.ErrChanged))
	}
	var err error
	if b.large != nil {
		var at record.Extent
		at, err = p.writer.Append(b.large...)
		b.at = append(b.at[:0], at)
	} else {
		err = p.writer.AppendBatch(b.at, b.data)
	}
	if err != nil {
		return err
	}
	if p.index.rule != nil {
		if err := p.checkSizes(b); err != nil {
			return err
		}
	}
	first := p.samples
	p.samples += int64(len(b.rows))
	return p.index.addBatch(first, b)
}

// key returns the key of row i, nil if there are no keys.
func (b *batch) key(i int) []byte {
	switch {
	case len(b.keyEnds) == 0:
		return nil
	case i == 0:
		return b.keys[:b.keyEnds[0]]
	}
	return b.keys[b.keyEnds[i-1]:b.keyEnds[i]]
}
