package record

import "fmt"

// A region is a part of the file that is written sequentially through a buffer.
type region struct {
	buf []byte
	off int64  // file offset of buf[0]
	crc uint32 // of all bytes put into the region; used for the tables only
}

// end returns the file offset of the next byte.
func (r *region) end() int64 { return r.off + int64(len(r.buf)) }

// room returns the number of bytes until the file offset is a multiple of the buffer's capacity.
func (r *region) room() int {
	return cap(r.buf) - int(r.off%int64(cap(r.buf))) - len(r.buf)
}

func (w *Writer) regions() [WriterBuffers]*region { return [...]*region{&w.data, &w.sums, &w.offs} }

// put appends p to a region. It writes p directly if it is large and the buffer is empty.
func (w *Writer) put(r *region, p []byte) {
	for len(p) > 0 && w.err == nil {
		if w.swapper == nil && len(r.buf) == 0 && len(p) >= cap(r.buf) {
			w.writeAt(p, r.off)
			r.off += int64(len(p))
			return
		}
		k := min(len(p), r.room())
		r.buf = append(r.buf, p[:k]...)
		p = p[k:]
		if r.room() == 0 {
			w.flush(r)
		}
	}
}

// flush writes the buffer of a region and empties it.
func (w *Writer) flush(r *region) {
	n := len(r.buf)
	switch {
	case n == 0:
		return
	case w.swapper != nil:
		w.swap(r)
	default:
		w.writeAt(r.buf, r.off)
		r.buf = r.buf[:0]
	}
	r.off += int64(n)
}

// swap passes the buffer of a region to the BufferSwapper and continues with the one it returns.
func (w *Writer) swap(r *region) {
	if w.err != nil {
		return
	}
	n := len(r.buf)
	next, err := w.swapper.SwapAt(r.buf, r.off)
	if r.buf = next; err != nil {
		w.fail(fmt.Errorf("write %d bytes at byte %d: %w", n, r.off, err))
	}
}
