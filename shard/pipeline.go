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

// A pipeline appends to a shard and its index what several readers have read, in the
// order of the plan: a shard of rows of numbers is then the work of all processors
// (BenchmarkRows). The runs of the shard are parted into units; each is read by one
// reader, at its own pace, and appended when all units before it are.
type pipeline struct {
	plan   *plan.Plan
	writer *record.Writer
	index  *indexFile
	units  []*unit
	want   int64 // samples of the shard

	next    atomic.Int64 // unit that is read next
	samples int64        // that were appended

	stop atomic.Int64 // units from this one on are of no use: there was an error
	mu   sync.Mutex
	err  error // the error of the first failed unit
}

// A unit is consecutive runs. It is taken by one reader, which must close full.
type unit struct {
	at   int // among the units
	runs []converters.Run
	turn chan struct{} // closed when all units before it are appended
	full chan *batch   // its records, in order
}

// unitsOf groups runs into units of at most limit samples.
func unitsOf(runs []converters.Run, limit int64) (units []*unit) {
	from, samples := 0, int64(0)
	cut := func(to int) {
		if from < to {
			units = append(units, &unit{at: len(units), runs: runs[from:to], turn: make(chan struct{}), full: make(chan *batch, batches+1)})
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
	return units
}

func newPipeline(pl *plan.Plan, s *plan.Shard, w *record.Writer, index *indexFile) *pipeline {
	p := &pipeline{plan: pl, writer: w, index: index, units: unitsOf(s.Runs, plan.RunLimit(s.Bytes/max(1, s.Samples))), want: s.Samples}
	p.stop.Store(math.MaxInt64)
	return p
}

// take returns the next unit to be read, nil after the last.
func (p *pipeline) take() *unit {
	if i := p.next.Add(1) - 1; i < int64(len(p.units)) {
		return p.units[i]
	}
	return nil
}

// run appends until all units were taken and closed. It returns the error that comes first in
// the order of the units.
func (p *pipeline) run() error {
	for _, u := range p.units {
		close(u.turn)
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

// wants reports whether the records of a unit are still needed: no unit up to it has failed.
func (p *pipeline) wants(u *unit) bool { return int64(u.at) < p.stop.Load() }

// errStopped is the end of a unit that is not wanted any more.
var errStopped = errors.New("stopped by an error before")

// fail ends a unit and all behind it.
func (p *pipeline) fail(u *unit, err error) {
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

// append appends one record. Only the lane of the current unit may call it.
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
