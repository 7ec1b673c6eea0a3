package lookup

import "github.com/ffconvert/ffconvert/record"

// fewExtents are rows of a header that are read at once where samples may be far from each other: 768 bytes.
const fewExtents = 64

// Records reads the records of samples one after another. It keeps the shard of the last one open. It must not be used
// concurrently.
type Records struct {
	d       *Dataset
	most    int64 // rows of a header that are read at once
	shard   int
	file    *openShard // nil: none is open
	extents extents
	buf     []byte
}

// Records returns a reader of records. The caller closes it.
func (d *Dataset) Records() *Records { return &Records{d: d, most: fewExtents} }

// Read does what [Dataset.Record] does. The bytes are valid until the next call. Samples of one shard in their order take the least time.
// Where Options.Open opens what comes over a network, bytes that are not sound are read again.
func (x *Records) Read(r *Row) (data []byte, err error) {
	if x.file == nil || x.shard != r.shard {
		x.Close()
		if x.file, err = x.d.openShard(&x.d.shards[r.shard]); err != nil {
			return nil, err
		}
		x.shard, x.extents = r.shard, extents{}
	}
	err = x.d.sample(r, &x.extents, x.find, func(bool) error {
		data, err = x.read(r)
		return err
	})
	return data, err
}

func (x *Records) find(r *Row) (record.Extent, error) {
	e, err := x.extents.find(x.file, r.sample, x.most)
	if err != nil && x.most > 1 { // a row of another sample may be damaged
		e, err = x.extents.find(x.file, r.sample, 1)
	}
	return e, err
}

func (x *Records) read(r *Row) ([]byte, error) {
	if err := x.d.checkSize(r); err != nil {
		return nil, err
	}
	if int64(cap(x.buf)) < r.At.Size {
		x.buf = make([]byte, r.At.Size) // at most what the file has, and the limit
	}
	data := x.buf[:r.At.Size]
	if n, err := x.file.file.ReadAt(data, r.At.Off); n < len(data) {
		return nil, r.fail(cut(err))
	}
	return data, x.file.info.CheckSample(r.sample, r.At, data)
}

// Close closes the shard that is open.
func (x *Records) Close() error {
	f := x.file
	if x.file = nil; f == nil {
		return nil
	}
	return f.file.Close()
}

// extents are consecutive rows of the header of a shard.
type extents struct {
	at    []record.Extent
	first int64 // sample of at[0]
}

// find returns where a sample is. If it is not known, most rows from it on are read.
func (w *extents) find(x *openShard, sample, most int64) (record.Extent, error) {
	if i := sample - w.first; i < 0 || i >= int64(len(w.at)) {
		at, err := record.ReadExtents(x.file, x.info, sample, min(most, x.info.Samples-sample), w.at[:0])
		if err != nil {
			w.at = w.at[:0]
			return record.Extent{}, err
		}
		w.at, w.first = at, sample
	}
	return w.at[sample-w.first], nil
}
