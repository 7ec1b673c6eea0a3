package shard

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Records up to plan.SmallRecord bytes are passed on in batches. A batch is full at batchRows rows
// or batchBytes bytes. The longest run of a plan fits into this number of batches. A reader has one
// more, so that it can read on while its segment waits for earlier segments.
const (
	batches    = 4
	batchRows  = plan.RunSamples / batches
	batchBytes = plan.RunBytes / batches
)

// A reader reads segments of a shard, encodes their samples and sends the records to the pipeline in
// batches. It copies small records, and reads on while they are appended. A large record is passed as the
// slices that hold it, and the reader waits until it is appended. A reader is for one goroutine.
type reader struct {
	*pipeline
	encoders []func() *encode.Encoder // of each encoding, made on first use
	progress plan.Tally

	segment *segment // that it reads now
	batch   *batch   // that it fills now
	empty   chan *batch
	large   *batch // for one large record
	fields  int64  // number of fields of all records
	damage
}

// newReader returns a reader for one shard after another.
func newReader(specs []*encode.Spec) *reader {
	r := &reader{empty: make(chan *batch, batches+1)}
	for _, s := range specs {
		r.encoders = append(r.encoders, sync.OnceValue(s.NewEncoder))
	}
	for range batches {
		r.empty <- &batch{home: r.empty}
	}
	r.batch = &batch{home: r.empty}
	r.large = &batch{home: make(chan *batch)}
	return r
}

// read reads segments until none is left. It reports errors to the pipeline.
func (r *reader) read(ctx context.Context, src converters.Source) {
	defer r.progress.Flush()
	for s := r.take(); s != nil; s = r.take() {
		if r.segment = s; r.wants(s) {
			if err := r.readSegment(ctx, src); err != nil {
				r.fail(s, err)
			}
		}
		close(s.full)
	}
}

func (r *reader) readSegment(ctx context.Context, src converters.Source) error {
	for runs := range converters.Near(src.Parts(), r.segment.runs) {
		part := runs[0].Part
		enc := r.encoders[r.plan.Parts[part].Encode]()
		var byRows bool
		for _, run := range runs {
			var rows iter.Seq2[converters.Rows, error]
			if rows, byRows = r.rowsOf(ctx, src, run, enc); !byRows {
				break
			}
			if err := r.addRows(part, rows); err != nil {
				return err
			}
		}
		if byRows {
			continue
		}
		for sample, err := range converters.ReadNear(ctx, src, runs) {
			if err != nil {
				return err
			}
			rec, err := enc.Encode(sample)
			switch {
			case err == nil:
			case errors.Is(err, encode.ErrSkip):
				continue
			default:
				return r.plan.ErrorAt(part, sample.Off, sample.Key, err)
			}
			if err := r.add(part, sample, rec); err != nil {
				return err
			}
			r.fields += int64(rec.Fields)
			if damaged := enc.Damaged(sample); len(damaged) > 0 {
				r.addFields(r.segment.at, sample.Key, sample.Off, damaged)
			}
			r.progress.Add(1, rec.Size)
		}
	}
	return r.flush()
}

// add sends a large record to the pipeline, or copies a small one into the batch.
func (r *reader) add(part int, s *converters.Sample, rec *encode.Record) error {
	row := entry{part: int32(part), off: s.Off}
	if r.index.shape.Labels {
		row.label, row.labels = labelOf(s)
	}
	if rec.Size > plan.SmallRecord {
		if err := r.flush(); err != nil {
			return err
		}
		b := r.large
		b.reset()
		b.large = rec.Parts
		b.rows = append(b.rows, row)
		b.addKey(s.Key)
		if r.alone {
			return r.append(b)
		}
		r.segment.full <- b
		<-b.home
		return r.stopped()
	}
	b := r.batch
	if b.rows == nil {
		b.make()
	}
	for _, part := range rec.Parts {
		b.data = append(b.data, part...)
	}
	b.at = append(b.at, record.Extent{Size: rec.Size, CRC: rec.CRC}) // separate statements, so that append works in place
	b.rows = append(b.rows, row)
	if r.index.shape.Keys {
		b.addKey(s.Key)
	}
	if len(b.rows) < batchRows && len(b.data) < batchBytes {
		return nil
	}
	return r.flush()
}

// rowsOf returns the samples of a run as rows that are records already. It returns false if samples must be
// encoded or indexed one by one.
func (r *reader) rowsOf(ctx context.Context, src converters.Source, run converters.Run, enc *encode.Encoder) (iter.Seq2[converters.Rows, error], bool) {
	rows, ok := src.(converters.RowSource)
	if rule := r.index.rule; !ok || rule == nil || r.index.shape.Labels || rule.Length > plan.SmallRecord || !enc.Verbatim {
		return nil, false
	}
	return rows.ReadRows(ctx, run)
}

// addRows is add for the rows of a part. It makes the same batches.
func (r *reader) addRows(part int, all iter.Seq2[converters.Rows, error]) error {
	for rows, err := range all {
		if err != nil {
			return err
		}
		r.fields += int64(rows.Count)
		r.progress.Add(int64(rows.Count), int64(len(rows.Data)))
		row, size := entry{part: int32(part), off: rows.Off}, len(rows.Data)/rows.Count
		for left := rows.Count; left > 0; {
			b := r.batch
			if b.rows == nil {
				b.make()
			}
			n := min(left, batchRows-len(b.rows), (batchBytes-len(b.data)+max(1, size)-1)/max(1, size))
			b.data = append(b.data, rows.Data[:n*size]...)
			for range n {
				b.at = append(b.at, record.Extent{Size: int64(size)})
				b.rows = append(b.rows, row)
			}
			rows.Data = rows.Data[n*size:]
			left -= n
			if len(b.rows) == batchRows || len(b.data) >= batchBytes {
				if err := r.flush(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// flush sends the batch to the pipeline, unless it is empty, and takes an empty one.
func (r *reader) flush() error {
	if len(r.batch.rows) == 0 {
		return nil
	}
	if r.alone {
		defer r.batch.reset()
		return r.append(r.batch)
	}
	r.segment.full <- r.batch
	runtime.Gosched() // lets the goroutine of a finished write start the next one
	r.batch = <-r.empty
	r.batch.reset()
	return r.stopped()
}

// stopped returns errStopped if the rest of the segment is not needed.
func (r *reader) stopped() error {
	if r.wants(r.segment) {
		return nil
	}
	return errStopped
}
