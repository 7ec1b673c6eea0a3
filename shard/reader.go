package shard

import (
	"context"
	"errors"
	"runtime"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Records up to plan.SmallRecord bytes are handed over by the batch. A batch is full at batchRows rows
// or batchBytes bytes. The longest run of a plan fits into this number of batches; a reader has one
// more, and reads on while its segment waits for the segments before it.
const (
	batches    = 4
	batchRows  = plan.RunSamples / batches
	batchBytes = plan.RunBytes / batches
)

// A reader reads segments of a shard and encodes their samples for a pipeline. It collects small
// records in batches, which the pipeline's goroutine appends while the next are read. It appends a
// large record itself, without a copy, once all records before it are appended. It is for one
// goroutine.
type reader struct {
	*pipeline
	encoders *encoders
	progress plan.Tally

	segment *segment // being read
	batch   *batch   // being filled
	out     int      // batches that are not back
	back    chan *batch
	spare   []*batch

	key    []byte // of a large record
	fields int64  // of all records
}

func newReader(p *pipeline, encoders *encoders, progress plan.Progress) *reader {
	l := &reader{pipeline: p, encoders: encoders, progress: plan.Tally{To: progress}, back: make(chan *batch, batches+1)}
	for range batches + 1 {
		l.spare = append(l.spare, &batch{home: l.back})
	}
	l.batch = l.pop()
	return l
}

// read reads one segment after another. Errors are the pipeline's.
func (l *reader) read(ctx context.Context, src converters.Source) {
	defer l.progress.Flush()
	for u := l.take(); u != nil; u = l.take() {
		if l.segment = u; l.wants(u) {
			if err := l.readSegment(ctx, src); err != nil {
				l.fail(u, err)
			}
		}
		close(u.full)
	}
}

func (l *reader) readSegment(ctx context.Context, src converters.Source) error {
	for _, run := range l.segment.runs {
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
func (l *reader) add(part int, s *converters.Sample, rec *encode.Record) error {
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
func (l *reader) flush() error {
	if len(l.batch.rows) == 0 {
		return nil
	}
	l.segment.full <- l.batch
	l.out++
	runtime.Gosched() // a write that is back from the device needs a processor for the next one
	if len(l.spare) == 0 {
		l.wait()
	}
	l.batch = l.pop()
	if !l.wants(l.segment) {
		return errStopped
	}
	return nil
}

func (l *reader) pop() *batch {
	last := len(l.spare) - 1
	b := l.spare[last]
	l.spare = l.spare[:last]
	return b
}

// wait waits for a batch to come back.
func (l *reader) wait() {
	b := <-l.back
	b.data, b.ends, b.rows, b.keys, b.keyEnds = b.data[:0], b.ends[:0], b.rows[:0], b.keys[:0], b.keyEnds[:0]
	l.out--
	l.spare = append(l.spare, b)
}

// settle waits until all records before the next one are appended: then the reader may append.
func (l *reader) settle() error {
	if err := l.flush(); err != nil {
		return err
	}
	<-l.segment.ready
	for l.out > 0 {
		l.wait()
	}
	if !l.wants(l.segment) {
		return errStopped
	}
	return nil
}
