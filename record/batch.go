package record

import (
	"context"
	"errors"
	"hash/crc32"
	"io"

	"github.com/ffconvert/ffconvert/aio"
)

// ReadBatch reads the samples of indices, in any order and with repetitions, as training loops need them. Samples that
// the page cache has come from there, except with the backend AIO. ReadBatch submits the reads of all others at once,
// past the page cache where the file system allows it, and reads those at most 16 KiB apart together. The result has
// sample indices[k] at k, in the memory of bufs[k] if there is one and its capacity suffices, else in new memory.
// Elements of bufs must not overlap.
//
// If an index is out of range, or the header of a file is damaged, the error says so, and no sample is read. Otherwise
// the error joins one FormatError for each sample that could not be read or has a wrong CRC, in the order of indices.
// The result is nil at such samples and has all others; an empty sample is an empty slice and not nil. When ctx is
// cancelled the error is ctx.Err() and the result is nil.
//
// Each concurrent call uses a queue of its own, with Options.AIO.Depth × BlockSize bytes of memory (16 MiB by default).
// The Reader keeps the queues until Close.
func (r *Reader) ReadBatch(ctx context.Context, indices []int, bufs [][]byte) ([][]byte, error) {
	for _, i := range indices {
		if _, _, err := r.find(i); err != nil {
			return nil, err
		}
	}
	q, err := r.queues.take()
	if err != nil {
		return nil, err
	}
	var out [][]byte
	if err = r.locate(ctx, indices, q); err == nil {
		out, err = q.read(ctx, bufs)
	}
	if perr := r.queues.put(q); perr != nil {
		return nil, errors.Join(err, perr)
	}
	return out, err
}

// BatchStats returns statistics of all calls of ReadBatch that have returned. Cached says how many of
// the bytes came from the page cache.
func (r *Reader) BatchStats() aio.Stats {
	r.queues.mu.Lock()
	defer r.queues.mu.Unlock()
	return r.queues.stats
}

// locate sets q.places. It checks the headers of files of which no sample was needed before.
func (r *Reader) locate(ctx context.Context, indices []int, q *queue) error {
	for len(q.places) < len(indices) {
		var f *file
		var j int64
		guarded(func() { // as many samples as have a sound row, since guarded takes longer than a row
			for _, i := range indices[len(q.places):] {
				k := 0
				k, j, _ = r.find(i)
				if f = r.files[k]; ctx.Err() != nil || f.load() != nil {
					return
				}
				e, ok := f.row(j)
				if !ok || e.Size > f.opts.maxSample() {
					return
				}
				q.places = append(q.places, location{f, j, e})
			}
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(q.places) < len(indices) {
			e, err := f.locate(j)
			if err != nil {
				return err
			}
			q.places = append(q.places, location{f, j, e})
		}
	}
	return nil
}

// A location is the place of a sample.
type location struct {
	f *file
	j int64 // index of the sample in f
	e Extent
}

// read reads the samples at q.places as one batch; see ReadBatch.
func (q *queue) read(ctx context.Context, bufs [][]byte) ([][]byte, error) {
	out := make([][]byte, len(q.places))
	var file *aio.File
	for k, p := range q.places {
		if k == 0 || p.f != q.places[k-1].f {
			var err error
			if file, err = p.f.open(); err != nil {
				return nil, p.f.fault(p.j, p.e.Off, err)
			}
		}
		var buf []byte
		if k < len(bufs) {
			buf = bufs[k]
		}
		out[k] = room(buf, p.e.Size) // bounded: at most MaxSample
		q.reqs = append(q.reqs, aio.Request{File: file, Off: p.e.Off, Buf: out[k]})
	}
	if err := q.ReadBatch(ctx, q.reqs); err != nil {
		q.failed = true
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	var errs []error
	var reported map[location]bool
	for k, p := range q.places {
		err := p.f.arrived(p, &q.reqs[k])
		if err == nil {
			continue
		}
		out[k] = nil
		if !reported[p] {
			if reported == nil {
				reported = make(map[location]bool)
			}
			reported[p] = true
			errs = append(errs, err)
		}
	}
	return out, errors.Join(errs...)
}

// arrived checks a sample after the batch: the error of its read, then its CRC.
func (f *file) arrived(p location, q *aio.Request) error {
	if q.Err == nil {
		if bad := f.gate(p.j, p.e, crc32.ChecksumIEEE(q.Buf)); bad != nil {
			return bad
		}
		return nil
	}
	var read *aio.ReadError
	if !errors.As(q.Err, &read) {
		return f.fault(p.j, p.e.Off, q.Err)
	}
	off := max(read.Off, p.e.Off) // the read may have begun before the sample
	if errors.Is(read.Err, io.ErrUnexpectedEOF) {
		return f.fault(p.j, off, truncated("the file had %d bytes when it was opened", f.size))
	}
	return f.fault(p.j, off, read.Err)
}
