package shard

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A pipeline appends the records of several readers to a shard and its index, in the order of the
// plan, so that all processors work on one shard of small rows (BenchmarkRows). The runs of the shard
// are divided into segments. One reader reads a segment, at its own pace; its records are appended
// when all segments before it are.
type pipeline struct {
	plan     *plan.Plan
	writer   *record.Writer
	index    *indexFile
	segments []*segment
	want     int64 // samples of the shard

	next    atomic.Int64 // segment that is read next
	samples int64        // that were appended

	stop atomic.Int64 // segments from this one on are not needed: an earlier one failed
	mu   sync.Mutex
	err  error // the error of the first failed segment
}

// A segment is consecutive runs. It is taken by one reader, which must close full.
type segment struct {
	at    int // among the segments
	runs  []converters.Run
	ready chan struct{} // closed when all segments before it are appended
	full  chan *batch   // its records, in order
}

// segmentsOf groups runs into segments of at most limit samples.
func segmentsOf(runs []converters.Run, limit int64) (segments []*segment) {
	from, samples := 0, int64(0)
	cut := func(to int) {
		if from < to {
			segments = append(segments, &segment{at: len(segments), runs: runs[from:to], ready: make(chan struct{}), full: make(chan *batch, batches+1)})
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
	p := &pipeline{plan: pl, writer: w, index: index, segments: segmentsOf(s.Runs, plan.RunLimit(s.Bytes/max(1, s.Samples))), want: s.Samples}
	p.stop.Store(math.MaxInt64)
	return p
}

// take returns the next segment to be read, nil after the last.
func (p *pipeline) take() *segment {
	if i := p.next.Add(1) - 1; i < int64(len(p.segments)) {
		return p.segments[i]
	}
	return nil
}

// run appends until all segments were taken and closed. It returns the error that comes first in
// the order of the segments.
func (p *pipeline) run() error {
	for _, u := range p.segments {
		close(u.ready)
		for b := range u.full {
			if p.wants(u) {
				if err := p.appendAll(b); err != nil {
					p.fail(u, err)
				}
			}
			b.home <- b
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// wants reports whether the records of a segment are still needed: no segment up to it has failed.
func (p *pipeline) wants(u *segment) bool { return int64(u.at) < p.stop.Load() }

// errStopped is the end of a segment that is not wanted any more.
var errStopped = errors.New("stopped by an error before")

// fail ends a segment and all behind it.
func (p *pipeline) fail(u *segment, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := int64(u.at); at < p.stop.Load() {
		p.stop.Store(at)
		p.err = err
	}
}

// A batch is records back to back.
type batch struct {
	data    []byte
	ends    []int
	rows    []entry
	keys    []byte // back to back, where the index has them
	keyEnds []int
	at      []record.Extent // where they were appended
	home    chan<- *batch
}

// make gives it the room of a full one, without the keys.
func (b *batch) make() {
	b.data = make([]byte, 0, batchBytes+plan.SmallRecord)
	b.ends = make([]int, 0, batchRows)
	b.rows = make([]entry, 0, batchRows)
}

// An entry is what an index keeps of a sample beside its key.
type entry struct {
	off    int64 // in its part
	label  int64
	part   int32
	labels bool // it has a label
}

func (p *pipeline) appendAll(b *batch) error {
	if left := p.want - p.samples; left < int64(len(b.rows)) {
		return p.tooMany(&b.rows[left], b.key(int(left)))
	}
	var err error
	if b.at, err = p.writer.AppendBatch(b.at[:0], b.data, b.ends); err != nil {
		return err
	}
	first := p.samples
	p.samples += int64(len(b.rows))
	return p.index.addBatch(first, b)
}

// key returns the key of a row, nil where there are none.
func (b *batch) key(i int) []byte {
	switch {
	case len(b.keyEnds) == 0:
		return nil
	case i == 0:
		return b.keys[:b.keyEnds[0]]
	}
	return b.keys[b.keyEnds[i-1]:b.keyEnds[i]]
}

// append appends one record. Only the reader of the current segment may call it.
func (p *pipeline) append(row *entry, key []byte, parts ...[]byte) error {
	if p.samples == p.want {
		return p.tooMany(row, key)
	}
	at, err := p.writer.Append(parts...)
	if err != nil {
		return err
	}
	p.samples++
	return p.index.add(p.samples-1, row, key, at)
}

func (p *pipeline) tooMany(row *entry, key []byte) error {
	return p.plan.ErrorAt(int(row.part), row.off, string(key), fmt.Errorf("%w: there are more samples than were indexed", converters.ErrChanged))
}
