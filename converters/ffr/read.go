package ffr

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/record"
)

// Sizes of reads in bytes. The first read is small, because a run may be one small sample.
const (
	firstRead  = 64 << 10
	windowSize = 1 << 20
)

// extentsAtOnce is how many rows of a header are read at a time: 96 KiB.
const extentsAtOnce = 8192

// A reader reads one run. Readers are reused.
type reader struct {
	src     *Source
	pass    *scan.Pass
	x       *shard
	own     converters.File // for the header; nil: the file of the pass is used
	payload bool            // the window is at the next sample

	at   []record.Extent // the next extents
	rest []record.Extent // buffer of at
	next int64           // number of the sample of at[0]
	end  int64           // end of the run, or of the shard
	head head            // of an object: the next run may need no request for its header

	window scan.Window
	whole  whole
	before int64 // size of the previous sample, if an index reads no payload
	spans  [1]converters.Span
}

// A head is what a reader knows of the header of an object. The zero value knows nothing.
type head struct {
	known bool
	part  int
	info  record.FileInfo
	first int64 // sample of rest[0]
}

// Begin reads the head of the shard, and moves the index to the row of the first sample. The header of a run of several
// samples is read through a separate file, because the file of the pass is read ahead.
func (r *reader) Begin(_ context.Context, p *scan.Pass) (err error) {
	known := r.head.known && r.head.part == p.Run.Part && p.Part.IsObject()
	if r.head.known = false; !known { // until the pass has begun
		r.rest = r.rest[:0]
	}
	r.pass, r.at, r.next, r.before, r.payload = p, nil, p.Run.First, -1, false
	tables := p.File
	if !p.Index && p.Run.Count > 1 {
		if r.own, err = r.src.open(p.Part, converters.Cached); err != nil {
			return err
		}
		tables = r.own
	}
	x, err := r.src.openShard(p.Run.Part, tables)
	if err != nil {
		return err
	}
	r.x = x
	if known {
		x.info = r.head.info
	} else if err := r.src.readHead(p.Run.Part, x); err != nil {
		return err
	}
	r.head = head{true, p.Run.Part, x.info, r.head.first}
	count := min(p.Run.Count, x.info.Samples-r.next)
	r.end = r.next + count
	if x.index == nil || count <= 0 {
		return nil
	}
	f, err := r.src.finder(x, p.Run.Part)
	if err != nil {
		return err
	}
	x.rows = f.Rows(x.index, r.next, count)
	return nil
}

// Offset returns the offset of the next sample, or -1 if that is unknown.
func (r *reader) Offset() int64 {
	if len(r.at) == 0 {
		return -1
	}
	return r.at[0].Off
}

// End closes the index, and the separate file of the header.
func (r *reader) End() {
	if r.x != nil {
		r.x.close()
	}
	if r.own != nil {
		r.own.Close()
	}
	r.x, r.own, r.window.File = nil, nil, nil
}

// Next returns the next record, after comparing it with its CRC. The bytes of a sample are in the read buffer, not
// copied. An index reads no payload, unless records are decoded or Options.Load is set.
func (r *reader) Next(context.Context, int64) ([]converters.Span, error) {
	spans, err := r.sample()
	if err != nil {
		r.head.known = false
	}
	return spans, err
}

func (r *reader) sample() ([]converters.Span, error) {
	if r.next >= r.end {
		return nil, nil
	}
	x := r.x
	if len(r.at) == 0 {
		if err := r.extents(); err != nil {
			return nil, x.fail(-1, -1, "", err)
		}
	}
	e := r.at[0]
	span := &r.spans[0]
	*span = converters.Span{Off: e.Off, Entries: 1}
	if r.pass.Index && x.decode == nil && !x.opts.Load {
		row, err := x.row(r.next, e)
		if err != nil {
			return nil, err
		}
		span.Shape = r.whole.sample(row, e, converters.Opaque(e.Size))
		span.Alike = r.before == e.Size && x.rows == nil
		r.before = e.Size
	} else {
		if !r.payload {
			r.begin()
		}
		r.window.Skip(e.Off - r.window.Offset())
		r.window.Relax()
		var err error
		if span.Shape, err = x.read(r, r.next, e); err != nil {
			return nil, err
		}
	}
	r.at, r.next = r.at[1:], r.next+1
	return r.spans[:], nil
}

// extents sets the extents of the next samples. Of an object it reads those of the samples after the run, too, for the next one.
func (r *reader) extents() (err error) {
	if n := r.next - r.head.first; n < 0 || n >= int64(len(r.rest)) || !r.pass.Part.IsObject() {
		count := r.end - r.next
		if r.pass.Part.IsObject() {
			count = r.x.info.Samples - r.next
		}
		r.head.first = r.next
		if r.rest, err = record.ReadExtents(r.x.tables, r.x.info, r.next, min(extentsAtOnce, count), r.rest[:0]); err != nil {
			return err
		}
	}
	r.at = r.rest[r.next-r.head.first:]
	r.at = r.at[:min(int64(len(r.at)), r.end-r.next)]
	return nil
}

// begin moves the window to the first sample. Few bytes are read through the file of the header; more are read ahead,
// bypassing the page cache.
func (r *reader) begin() {
	first, last := r.at[0], r.at[len(r.at)-1]
	size := last.Off + last.Size - first.Off
	file := r.pass.File
	if size <= firstRead && r.next+int64(len(r.at)) == r.end {
		file = r.x.tables
	}
	end := r.pass.Part.Size
	if r.next+int64(len(r.at)) == r.end {
		end = last.Off + last.Size
	}
	if ahead, ok := file.(*aio.Ahead); ok {
		ahead.Limit(end)
	}
	r.window.Reset(file, end, first.Off, scan.Sizes{First: int(min(firstRead, size)), Usual: windowSize})
	r.payload = true
}

// read reads sample i at e, where the window is.
func (x *shard) read(r *reader, i int64, e record.Extent) (*converters.Sample, error) {
	row, err := x.row(i, e)
	if err != nil {
		return nil, err
	}
	if limit := x.opts.maxSample(); e.Size > limit {
		return nil, x.fail(i, e.Off, row.Key, fmt.Errorf("%w: %d bytes, at most %d are allowed", record.ErrTooLarge, e.Size, limit))
	}
	payload, err := r.window.Peek(int(e.Size))
	if err != nil {
		return nil, x.fail(i, e.Off, row.Key, err)
	}
	if err := x.info.CheckSample(i, e, payload); err != nil {
		return nil, x.fail(i, e.Off, row.Key, err)
	}
	if x.decode == nil {
		v := converters.Bytes(payload)
		v.CRC = e.CRC
		return r.whole.sample(row, e, v), nil
	}
	sample, err := x.decode(payload)
	if err != nil {
		return nil, x.fail(i, e.Off, row.Key, err)
	}
	sample.Off = e.Off
	sample.Key = cmp.Or(sample.Key, row.Key)
	return sample, nil
}

// maxSample returns the size of the largest accepted record, in bytes.
func (o *Options) maxSample() int64 {
	if o.Record.MaxSample > 0 {
		return o.Record.MaxSample
	}
	return record.DefaultMaxSample
}
