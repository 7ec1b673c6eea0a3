package shard

import (
	"sync/atomic"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/record"
)

// Records up to smallRecord bytes are appended by the batch. A batch is full with so many
// rows or bytes; each pipeline has batches of them.
const (
	smallRecord = 4 << 10
	batchRows   = 8192
	batchBytes  = 256 << 10
	batches     = 3
)

// An entry is what an index keeps of a sample beside its key.
type entry struct {
	off    int64 // in its part
	label  int64
	part   int32
	labels bool // it has a label
}

// A pipeline appends records to a shard and its index. Small ones are collected and
// appended in a goroutine of their own, while the next are read and encoded: a shard of
// rows of numbers is then the work of two processors (BenchmarkRows). A large one is
// appended at once, from where it lies, when all before it are. It is for one goroutine,
// and must be closed.
type pipeline struct {
	writer *record.Writer
	index  *indexFile

	batch *batch // being filled
	out   int    // batches that are not back
	full  chan *batch
	back  chan *batch
	spare []*batch
	err   atomic.Pointer[error] // of the first record that could not be appended

	samples int64 // that were appended
}

// A batch is records back to back.
type batch struct {
	data []byte
	ends []int
	rows []entry
	keys []string // none where the index has none
}

func newPipeline(w *record.Writer, index *indexFile) *pipeline {
	p := &pipeline{writer: w, index: index, batch: &batch{}, full: make(chan *batch, batches), back: make(chan *batch, batches)}
	for range batches - 1 {
		p.spare = append(p.spare, &batch{})
	}
	go p.run()
	return p
}

// run appends batches. Only it or add, which then waits for it, touches the shard.
func (p *pipeline) run() {
	defer close(p.back)
	for b := range p.full {
		if p.failed() == nil {
			if err := p.appendAll(b); err != nil {
				p.err.Store(&err)
			}
		}
		p.back <- b
	}
}

func (p *pipeline) appendAll(b *batch) error {
	from, key := 0, ""
	for i, end := range b.ends {
		if b.keys != nil {
			key = b.keys[i]
		}
		if err := p.append(&b.rows[i], key, b.data[from:end]); err != nil {
			return err
		}
		from = end
	}
	return nil
}

func (p *pipeline) append(row *entry, key string, parts ...[]byte) error {
	at, err := p.writer.Append(parts...)
	if err != nil {
		return err
	}
	p.samples++
	return p.index.add(p.samples-1, row, key, at)
}

// add appends a record, or will. An error may be that of a record before.
func (p *pipeline) add(part int, s *converters.Sample, rec *encode.Record) error {
	row := entry{part: int32(part), off: s.Off}
	if p.index.shape.labels {
		row.label, row.labels = labelOf(s)
	}
	if rec.Size > smallRecord {
		if err := p.settle(); err != nil {
			return err
		}
		return p.append(&row, s.Key, rec.Parts...)
	}
	b := p.batch
	for _, part := range rec.Parts {
		b.data = append(b.data, part...)
	}
	b.ends, b.rows = append(b.ends, len(b.data)), append(b.rows, row)
	if p.index.shape.keys {
		b.keys = append(b.keys, s.Key)
	}
	if len(b.rows) < batchRows && len(b.data) < batchBytes {
		return nil
	}
	return p.flush()
}

// flush sends the batch off and takes another.
func (p *pipeline) flush() error {
	p.full <- p.batch
	p.out++
	if len(p.spare) == 0 {
		p.take()
	}
	last := len(p.spare) - 1
	p.batch, p.spare = p.spare[last], p.spare[:last]
	return p.failed()
}

// take waits for a batch to come back.
func (p *pipeline) take() {
	b := <-p.back
	b.data, b.ends, b.rows, b.keys = b.data[:0], b.ends[:0], b.rows[:0], b.keys[:0]
	p.out--
	p.spare = append(p.spare, b)
}

// settle waits until all that was added is appended.
func (p *pipeline) settle() error {
	if len(p.batch.rows) > 0 {
		if err := p.flush(); err != nil {
			return err
		}
	}
	for p.out > 0 {
		p.take()
	}
	return p.failed()
}

func (p *pipeline) failed() error {
	if err := p.err.Load(); err != nil {
		return *err
	}
	return nil
}

// close ends the goroutine. What was not settled may not be appended. It may be called
// again.
func (p *pipeline) close() {
	if p.full == nil {
		return
	}
	close(p.full)
	for range p.back {
	}
	p.full = nil
}
