package lookup

import (
	"bufio"
	"context"
	"io"
	"iter"

	"github.com/ffconvert/ffconvert/record"
)

const (
	extentsAtOnce = 8192    // rows of a header that are read at once: 96 KiB
	readSize      = 1 << 20 // bytes of payload that are read at once
)

// Walk yields all samples in the order of the dataset, by their indexes. Where there are none, or none with places,
// headers are read, and checked first. An index that differs from its CRC is an error after its last row.
func (d *Dataset) Walk(ctx context.Context) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		walker{whole: true}.walk(ctx, d, 0, func(r *Row, _ []byte, err error) bool { return yield(r, err) })
	}
}

// WalkFrom is Walk from sample first on. It begins fast wherever that is, because it reads nothing of the samples before it,
// and so compares neither whole indexes nor whole headers with their checksums. What it reads is checked for sense alone.
func (d *Dataset) WalkFrom(ctx context.Context, first int64) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		walker{}.walk(ctx, d, max(0, first), func(r *Row, _ []byte, err error) bool { return yield(r, err) })
	}
}

// WalkRecords is Walk with the records for which wants is true, nil: all of them. Each was compared with its CRC, and is valid until
// the next one. Of a sample, wants may be asked twice.
func (d *Dataset) WalkRecords(ctx context.Context, wants func(*Row) bool, yield func(r *Row, data []byte) error) error {
	if wants == nil {
		wants = func(*Row) bool { return true }
	}
	var last error
	walker{whole: true, wants: wants}.walk(ctx, d, 0, func(r *Row, data []byte, err error) bool {
		if last = err; err == nil {
			last = yield(r, data)
		}
		return last == nil
	})
	return last
}

func (w walker) walk(ctx context.Context, d *Dataset, first int64, yield func(*Row, []byte, error) bool) {
	w.d, w.most = d, extentsAtOnce
	defer w.Close()
	k, i := d.find(first)
	for ; k < len(d.shards); k, i = k+1, 0 {
		more, err := w.walkShard(ctx, k, i, yield)
		if err != nil {
			yield(nil, nil, err)
		}
		if err != nil || !more {
			return
		}
	}
}

// A walker goes through shards.
type walker struct {
	Records
	whole bool            // indexes and headers are compared with their checksums
	wants func(*Row) bool // whether its record is read; nil: none is
	begun bool            // data goes on with the next record

	data *bufio.Reader
	row  Row
}

// walkShard yields the samples of a shard from sample i on. more is false if no others are wanted.
func (w *walker) walkShard(ctx context.Context, k int, i int64, yield func(*Row, []byte, error) bool) (more bool, err error) {
	s := &w.d.shards[k]
	w.begun = false
	var x *index
	if s.index != "" {
		if x, err = w.d.opts.openIndex(s); err != nil {
			return false, err
		}
		defer x.close()
		if i > 0 {
			x.rows.SkipTo(i)
		}
	}
	r := &w.row
	r.place(w.d, k, i)
	for first := i; i < s.samples; i++ {
		if (i-first)%1024 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		r.Number, r.sample, r.Placed = w.d.starts[k]+i, i, false
		if x != nil {
			said, err := x.rows.Next()
			if err != nil {
				return false, x.fail(err)
			}
			r.set(said)
		}
		var data []byte
		if !r.Placed || w.wants != nil && w.wants(r) {
			if data, err = w.fetch(ctx, r, s); err != nil {
				return false, err
			}
		} else {
			w.begun = false
		}
		if !yield(r, data, nil) {
			return false, nil
		}
	}
	if x != nil && w.whole {
		return true, x.check(ctx)
	}
	return true, nil
}

// fetch finds a sample by the header, and reads its record if it is wanted.
func (w *walker) fetch(ctx context.Context, r *Row, s *shard) (data []byte, err error) {
	opened := w.file == nil || w.shard != r.shard
	if err := w.open(r); err != nil {
		return nil, err
	}
	if opened && w.whole {
		err := w.d.opts.sound(func(bool) error {
			_, err := record.CheckHeader(w.file, s.path, w.info.Size, w.d.opts.Record)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	err = w.sample(ctx, r, func(again bool) error {
		w.begun = w.begun && !again
		if w.wants == nil || !w.wants(r) {
			w.begun = false
			return nil
		}
		data, err = w.Records.read(r, w.next)
		return err
	})
	return data, err
}

// next reads the next bytes of the payload, the first ones from where the row of the walk is.
func (w *walker) next(data []byte) (int, error) {
	if w.ahead != nil {
		return w.ahead.ReadAt(data, w.row.At.Off)
	}
	if !w.begun {
		w.begun = true
		payload := io.NewSectionReader(w.file, w.row.At.Off, w.info.Size-w.row.At.Off)
		if w.data == nil {
			w.data = bufio.NewReaderSize(payload, readSize)
		}
		w.data.Reset(payload)
	}
	return io.ReadFull(w.data, data)
}
