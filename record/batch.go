package record

import (
	"context"
	"errors"
	"hash/crc32"
	"io"

	"github.com/ffconvert/ffconvert/aio"
)

// ReadBatch returns the samples of indices, which may come in any order and more than once, as a
// training loop wants them: all are read at once, past the page cache where the file system allows
// it, those side by side in one read. Sample indices[k] lies in bufs[k]'s memory if there is one and
// it is large enough (its length is ignored), else in new memory. The elements of bufs must not
// share memory, unless they are nil.
//
// An index that is out of range is ErrRange, before anything is read. Otherwise the error joins a
// FormatError for each sample that could not be read or whose CRC is wrong, once, in the order of
// indices, and nil stands in the places of such a sample; the others are returned, an empty one as an empty
// slice that is not nil. When ctx is cancelled the error is ctx.Err() and nothing is returned.
//
// Each concurrent call has a queue of its own, with Options.AIO.Depth × BlockSize bytes of memory
// (16 MiB by default). The Reader keeps them until Close.
func (r *Reader) ReadBatch(ctx context.Context, indices []int, bufs [][]byte) ([][]byte, error) {
	places := make([]location, len(indices))
	for k, i := range indices {
		n, j, err := r.find(i)
		if err != nil {
			return nil, err
		}
		places[k] = location{r.files[n], j, r.files[n].extent(j)}
	}
	q, err := r.queues.take()
	if err != nil {
		return nil, err
	}
	out, err := q.read(ctx, places, bufs)
	if perr := r.queues.put(q); perr != nil {
		return nil, errors.Join(err, perr)
	}
	return out, err
}

// BatchStats tell how the batches so far were read. Before the first they are zero.
func (r *Reader) BatchStats() aio.Stats {
	r.queues.mu.Lock()
	defer r.queues.mu.Unlock()
	return r.queues.stats
}

// A place is that of a sample.
type location struct {
	f *file
	j int64 // its index there
	e Extent
}

func (q *queue) read(ctx context.Context, places []location, bufs [][]byte) ([][]byte, error) {
	out := make([][]byte, len(places))
	for k, p := range places {
		file, err := p.f.direct.open(q, p.f)
		if err != nil {
			return nil, p.f.fault(p.j, p.e.Off, err)
		}
		var buf []byte
		if k < len(bufs) {
			buf = bufs[k]
		}
		out[k] = room(buf, p.e.Size) // bounded: Open checked it against MaxSample
		q.reqs = append(q.reqs, aio.Request{File: file, Off: p.e.Off, Buf: out[k]})
	}
	if err := q.ReadBatch(ctx, q.reqs); err != nil {
		q.failed = true
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	var errs []error
	told := make(map[location]bool)
	for k, p := range places {
		err := p.f.arrived(p, &q.reqs[k])
		if err == nil {
			continue
		}
		out[k] = nil
		if !told[p] {
			told[p] = true
			errs = append(errs, err)
		}
	}
	return out, errors.Join(errs...)
}

// arrived is the gate of a sample that a batch has read.
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
