package lookup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
)

// rereads is how often bytes are read again that came over a network and are not sound. What is judged at once may have come by
// four requests, each of which may have been damaged.
const rereads = 4

// sound calls read, which reads some bytes and judges them. Where o.Open opens what comes over a network, bytes that
// are not sound are read again, as they may be damaged on their way: then read is called with again.
func (o *Options) sound(read func(again bool) error) error {
	err := read(false)
	for n := 0; n < rereads && isDamage(err) && o.Open != nil; n++ {
		err = read(true)
	}
	return err
}

// isDamage reports whether damaged bytes could have led to an error: a size that is too large among them.
func isDamage(err error) bool {
	return errors.Is(err, record.ErrCorrupt) || errors.Is(err, record.ErrTooLarge) || place.KindOf(err) == place.Corrupt
}

// fewExtents are rows of a header that are read at once where samples may be far from each other: 768 bytes.
const fewExtents = 64

// Records reads the records of samples one after another. It keeps the shard of the last one open. It must not be used
// concurrently.
type Records struct {
	d       *Dataset
	most    int64 // rows of a header that are read at once
	shard   int
	file    dataset.File // nil: none is open
	ahead   *aio.Ahead   // of file; nil: it is on this machine
	info    record.FileInfo
	extents []record.Extent // consecutive rows of its header
	first   int64           // sample of extents[0]
	buf     []byte
}

// Records returns a reader of records. The caller closes it.
func (d *Dataset) Records() *Records { return &Records{d: d, most: fewExtents} }

// Read does what [Dataset.Record] does. The bytes are valid until the next call. Samples of one shard in their order take the least time.
// Where Options.Open opens what comes over a network, bytes that are not sound are read again.
func (x *Records) Read(ctx context.Context, r *Row) (data []byte, err error) {
	if err := x.open(r); err != nil {
		return nil, err
	}
	err = x.sample(ctx, r, func(bool) error {
		payload := io.ReaderAt(x.file)
		if x.ahead != nil {
			payload = x.ahead
		}
		data, err = x.read(r, func(data []byte) (int, error) { return payload.ReadAt(data, r.At.Off) })
		return err
	})
	return data, err
}

// open opens the shard of a sample.
func (x *Records) open(r *Row) (err error) {
	if x.file != nil && x.shard == r.shard {
		return nil
	}
	x.Close()
	x.shard, x.extents = r.shard, x.extents[:0]
	x.file, x.info, err = x.d.opts.openShard(&x.d.shards[r.shard])
	if err == nil && x.d.opts.Open != nil {
		x.ahead = aio.NewAhead(x.file, x.info.Size)
	}
	return err
}

// sample finds a sample by the header of its shard, and reads it. Without an index nothing but the record tells whether
// the header's row is sound: then both are read again.
func (x *Records) sample(ctx context.Context, r *Row, read func(again bool) error) error {
	indexed := r.Placed
	if err := x.locate(ctx, r); err != nil {
		return err
	}
	return x.d.opts.sound(func(again bool) error {
		if again && !indexed {
			r.Placed, x.extents = false, x.extents[:0]
			if err := x.locate(ctx, r); err != nil {
				return err
			}
		}
		return read(again)
	})
}

// Locate enters where the record of a sample is by the header of its shard, and compares that with the index.
func (x *Records) Locate(ctx context.Context, r *Row) error {
	if err := x.open(r); err != nil {
		return err
	}
	return x.locate(ctx, r)
}

func (x *Records) locate(ctx context.Context, r *Row) error {
	return x.d.opts.sound(func(again bool) error {
		if again {
			x.extents = x.extents[:0]
		}
		e, err := x.find(r.sample, x.most)
		if err != nil && x.most > 1 { // a row of another sample may be damaged
			e, err = x.find(r.sample, 1)
		}
		if err != nil {
			return err
		}
		if r.Placed && r.At != e {
			if err := x.d.CheckIndex(ctx, r); err != nil { // else the header is what is damaged
				return err
			}
			return r.fail(fmt.Errorf("%w: %d bytes from byte %d on with the CRC %08x, by its index, whose checksum is right, %d from byte %d on, %08x",
				record.ErrHeader, e.Size, e.Off, e.CRC, r.At.Size, r.At.Off, r.At.CRC))
		}
		r.At, r.Placed = e, true
		return nil
	})
}

// read calls fill to fill memory with a record, and compares it with its CRC. A record that is too large to be held in memory
// is refused.
func (x *Records) read(r *Row, fill func([]byte) (int, error)) ([]byte, error) {
	most := x.d.opts.Record.MaxSample
	most = cmp.Or(max(0, most), record.DefaultMaxSample)
	if r.At.Size > most {
		return nil, r.fail(fmt.Errorf("%w: %d bytes, at most %d are allowed", record.ErrTooLarge, r.At.Size, most))
	}
	if int64(cap(x.buf)) < r.At.Size {
		x.buf = make([]byte, r.At.Size) // at most what the file has, and the limit
	}
	data := x.buf[:r.At.Size]
	if n, err := fill(data); n < len(data) {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // the header was checked against the size of the file
			err = record.ErrTruncated
		}
		return nil, r.fail(err)
	}
	return data, x.info.CheckSample(r.sample, r.At, data)
}

// Copy writes the record of a sample to w, of any size, and compares it with its CRC: an error after the last byte.
func (x *Records) Copy(ctx context.Context, w io.Writer, r *Row) error {
	if err := x.Locate(ctx, r); err != nil {
		return err
	}
	sum := crc32.NewIEEE()
	payload := io.NewSectionReader(x.file, r.At.Off, r.At.Size)
	switch _, err := io.CopyN(w, io.TeeReader(payload, sum), r.At.Size); {
	case errors.Is(err, io.EOF):
		return r.fail(record.ErrTruncated)
	case err != nil: // of the file, or of w
		return err
	}
	return x.info.CheckSum(r.sample, r.At, sum.Sum32())
}

// Close closes the shard that is open.
func (x *Records) Close() error {
	f := x.file
	if x.file = nil; f == nil {
		return nil
	}
	if x.ahead != nil {
		x.ahead.Close()
		x.ahead = nil
	}
	return f.Close()
}

// find returns where a sample is. If it is not known, most rows from it on are read.
func (x *Records) find(sample, most int64) (record.Extent, error) {
	if i := sample - x.first; i < 0 || i >= int64(len(x.extents)) {
		at, err := record.ReadExtents(x.file, x.info, sample, min(most, x.info.Samples-sample), x.extents[:0])
		if err != nil {
			x.extents = x.extents[:0]
			return record.Extent{}, err
		}
		x.extents, x.first = at, sample
	}
	return x.extents[sample-x.first], nil
}
