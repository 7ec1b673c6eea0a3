package shard

import (
	"context"
	"errors"
	"runtime"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Records up to smallRecord bytes are handed over by the batch. A batch is full with batchRows
// rows or batchBytes bytes. A unit of the plan's longest runs fits into batches of them; a lane
// has one more, so that its reader goes on while the unit waits for its turn.
const (
	batches    = 4
	batchRows  = plan.RunSamples / batches
	batchBytes = plan.RunBytes / batches
)

// A lane is what one reader gives to a pipeline. Small records are collected, and
// appended by the goroutine of the pipeline while the next are read and encoded. A
// large one is appended at once, from where it lies, when all before it are. It is for
// one goroutine.
type lane struct {
	*pipeline
	encoders *encoders
	progress plan.Tally

	unit  *unit  // that is read
	batch *batch // being filled
	out   int    // batches that are not back
	back  chan *batch
	spare []*batch

	key    []byte // of a large record
	fields int64  // of all records
}

func newLane(p *pipeline, encoders *encoders, progress plan.Progress) *lane {
	l := &lane{pipeline: p, encoders: encoders, progress: plan.Tally{To: progress}, back: make(chan *batch, batches+1)}
	for range batches + 1 {
		l.spare = append(l.spare, &batch{home: l.back})
	}
	l.batch = l.pop()
	return l
}

// read reads one unit after another. Errors are the pipeline's.
func (l *lane) read(ctx context.Context, src converters.Source) {
	defer l.progress.Flush()
	for u := l.take(); u != nil; u = l.take() {
		if l.unit = u; l.wants(u) {
			if err := l.readUnit(ctx, src); err != nil {
				l.fail(u, err)
			}
		}
		close(u.full)
	}
}

func (l *lane) readUnit(ctx context.Context, src converters.Source) error {
	for _, run := range l.unit.runs {
		enc := l.encoders.of(&l.plan.Parts[run.Part])
		for sample, err := range src.Read(ctx, run) {
			if err != nil {
				return err
			}
			rec, err := enc.Encode(sample)
			switch {
			case err == nil:
			case errors.Is(err, encode.ErrSkip):
				continue
			default:
				return l.plan.ErrorAt(run.Part, sample.Off, sample.Key, err)
			}
			if err := l.add(run.Part, sample, rec); err != nil {
				return err
			}
			l.fields += int64(rec.Fields)
			l.progress.Add(1, rec.Size)
		}
	}
	return l.flush()
}

// add appends a record, or will.
func (l *lane) add(part int, s *converters.Sample, rec *encode.Record) error {
	row := entry{part: int32(part), off: s.Off}
	if l.index.shape.Labels {
		row.label, row.labels = labelOf(s)
	}
	if rec.Size > plan.SmallRecord {
		if err := l.settle(); err != nil {
			return err
		}
		l.key = append(l.key[:0], s.Key...)
		return l.append(&row, l.key, rec.Parts...)
	}
	b := l.batch
	if b.rows == nil {
		b.make()
	}
	for _, part := range rec.Parts {
		b.data = append(b.data, part...)
	}
	b.ends = append(b.ends, len(b.data)) // a statement each: appended in place
	b.rows = append(b.rows, row)
	if l.index.shape.Keys {
		b.keys = append(b.keys, s.Key...)
		b.keyEnds = append(b.keyEnds, len(b.keys))
	}
	if len(b.rows) < batchRows && len(b.data) < batchBytes {
		return nil
	}
	return l.flush()
}

// flush sends the batch off, if there is anything in it, and takes another.
func (l *lane) flush() error {
	if len(l.batch.rows) == 0 {
		return nil
	}
	l.unit.full <- l.batch
	l.out++
	runtime.Gosched() // a write that is back from the device needs a processor for the next one
	if len(l.spare) == 0 {
		l.wait()
	}
	l.batch = l.pop()
	if !l.wants(l.unit) {
		return errStopped
	}
	return nil
}

func (l *lane) pop() *batch {
	last := len(l.spare) - 1
	b := l.spare[last]
	l.spare = l.spare[:last]
	return b
}

// wait waits for a batch to come back.
func (l *lane) wait() {
	b := <-l.back
	b.data, b.ends, b.rows, b.keys, b.keyEnds = b.data[:0], b.ends[:0], b.rows[:0], b.keys[:0], b.keyEnds[:0]
	l.out--
	l.spare = append(l.spare, b)
}

// settle waits until all that comes before is appended: then it is this lane's turn.
func (l *lane) settle() error {
	if err := l.flush(); err != nil {
		return err
	}
	<-l.unit.turn
	for l.out > 0 {
		l.wait()
	}
	if !l.wants(l.unit) {
		return errStopped
	}
	return nil
}
