package record

import "fmt"

// A region is consecutive bytes of the file that are written from their beginning on.
type region struct {
	buf []byte
	off int64  // where in the file buf[0] belongs
	crc uint32 // of a table: of all that was put into it
}

// end is where the next byte belongs.
func (r *region) end() int64 { return r.off + int64(len(r.buf)) }

// room is how much the buffer takes until the file reaches a multiple of its capacity.
func (r *region) room() int {
	return cap(r.buf) - int(r.off%int64(cap(r.buf))) - len(r.buf)
}

func (w *Writer) regions() [WriterBuffers]*region { return [...]*region{&w.data, &w.sums, &w.offs} }

// put sends p on its way to a region, through its buffer or past it.
func (w *Writer) put(r *region, p []byte) {
	for len(p) > 0 && w.err == nil {
		if w.taker == nil && len(r.buf) == 0 && len(p) >= cap(r.buf) {
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

// flush writes the buffer of a region and makes it empty.
func (w *Writer) flush(r *region) {
	n := len(r.buf)
	switch {
	case n == 0:
		return
	case w.taker != nil:
		w.take(r)
	default:
		w.writeAt(r.buf, r.off)
		r.buf = r.buf[:0]
	}
	r.off += int64(n)
}

// take hands the buffer of a region over for the next one.
func (w *Writer) take(r *region) {
	if w.err != nil {
		return
	}
	n := len(r.buf)
	next, err := w.taker.TakeAt(r.buf, r.off)
	if r.buf = next; err != nil {
		w.fail(fmt.Errorf("write %d bytes at byte %d: %w", n, r.off, err))
	}
}
