package cbor

import (
	"errors"
	"fmt"
	"io"

	"github.com/ffconvert/ffconvert/converters"
)

// Sizes of reads, bytes. A read behind a jump, and one for a single item, is small;
// others double up to the size of the window, which fits the processor's cache and reads
// little beyond a run of small items.
const (
	smallRead   = 4 << 10
	firstSweep  = 64 << 10
	indexWindow = 64 << 10
	readWindow  = 256 << 10
	patience    = 16 // items that fit before a grown buffer is given back
)

// A window is a buffer that slides over a part. What is held stays in it, all else
// that was passed is overwritten.
//
//	buf  │ passed │ held │ read, not passed │ free │
//	base ┘   mark ┘    i ┘              len ┘  cap ┘
type window struct {
	f     io.ReaderAt
	size  int64  // of the part, bytes
	base  int64  // where in the part buf begins
	buf   []byte // what was read
	i     int    // what comes next
	mark  int    // where what is held begins; -1: nothing is
	usual int    // bytes of the largest buffer that is kept
	chunk int    // bytes to read next
	last  bool   // the last item that is wanted: read little more than it needs
	calm  int    // items since one needed more than the usual buffer
}

// open turns to a part. The buffer is used again; a new one is no larger than the part.
func (w *window) open(f io.ReaderAt, size, pos int64, usual, chunk int) {
	if n := int(min(int64(usual), size-pos)); cap(w.buf) < n {
		w.buf = make([]byte, 0, n)
	}
	*w = window{f: f, size: size, base: pos, buf: w.buf[:0], mark: -1, usual: usual, chunk: chunk, calm: w.calm}
}

// pos returns the place in the part, bytes.
func (w *window) pos() int64 { return w.base + int64(w.i) }

// unread returns how many bytes are at hand.
func (w *window) unread() int { return len(w.buf) - w.i }

// hold keeps what comes from here on, where nothing is held yet.
func (w *window) hold() {
	if w.mark < 0 {
		w.mark = w.i
	}
}

// held returns what is held, up to the place. It is valid until the next read.
func (w *window) held() []byte { return w.buf[w.mark:w.i:w.i] }

// drop lets go of what is held.
func (w *window) drop() { w.mark = -1 }

// seek moves to a place. What is held must begin there or before, and is kept.
func (w *window) seek(pos int64) {
	if at := pos - w.base; at >= 0 && at <= int64(len(w.buf)) {
		w.i = int(at)
		return
	}
	w.base, w.buf, w.i = pos, w.buf[:0], 0
}

// jump passes n bytes without reading those that are not at hand.
func (w *window) jump(n int64) {
	if n > smallRead {
		w.chunk = smallRead
	}
	w.seek(w.pos() + n)
}

// relax gives a grown buffer back when items have been small for a while. A buffer that
// one large item needed serves the next. Nothing is held.
func (w *window) relax() {
	if cap(w.buf) <= w.usual || w.unread() > w.usual {
		return
	}
	if w.calm++; w.calm > patience {
		w.base = w.pos()
		w.buf = append(make([]byte, 0, w.usual), w.buf[w.i:]...)
		w.i, w.calm = 0, 0
	}
}

// fill reads until n bytes are at hand. The caller knows that the part has them.
func (w *window) fill(n int) error {
	missing := n - w.unread()
	if missing <= 0 {
		return nil
	}
	if w.i-w.kept()+n > w.usual {
		w.calm = 0
	}
	chunk := w.chunk
	w.chunk = min(2*w.chunk, w.usual)
	if w.last {
		chunk = smallRead
	}
	from := w.base + int64(len(w.buf))
	want := int(min(int64(max(missing, chunk)), w.size-from))
	if cap(w.buf)-len(w.buf) < want {
		w.compact(missing)
	}
	free := w.buf[len(w.buf):cap(w.buf)]
	got, err := w.f.ReadAt(free[:min(want, len(free))], from)
	w.buf = w.buf[:len(w.buf)+got]
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if got < missing {
		return fmt.Errorf("%w: it became shorter", converters.ErrChanged)
	}
	return nil
}

// compact moves what is held and what is at hand to the front, of a larger buffer where
// more bytes do not fit otherwise. Then it is a quarter larger than need be, since more
// may follow.
func (w *window) compact(more int) {
	keep := w.kept()
	need := len(w.buf) - keep + more
	to := w.buf[:0]
	if need > cap(to) {
		to = make([]byte, 0, (need+need/4+w.usual-1)/w.usual*w.usual)
	}
	w.buf = append(to, w.buf[keep:]...)
	w.base += int64(keep)
	w.i -= keep
	if w.mark >= 0 {
		w.mark = 0
	}
}

// kept returns where what must stay begins.
func (w *window) kept() int {
	if w.mark >= 0 {
		return w.mark
	}
	return w.i
}
