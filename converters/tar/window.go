package tar

import (
	"io"

	"github.com/ffconvert/ffconvert/converters"
)

// Sizes of reads, bytes. The first is small, since a run may be one small sample; they
// double up to what keeps both the device and the processor's cache content.
const (
	firstRead  = 64 << 10
	windowSize = 1 << 20
	lastSlack  = 4 << 10 // read beyond the last sample of a run, for the header that ends it
	maxBuffer  = 1 << 40 // keeps the arithmetic on sizes far from overflow
	patience   = 16      // samples that fit before a grown buffer is given back
)

// A window is the cursor of Read: a buffer that slides over the part. What the current
// sample keeps stays in it until release, the rest is overwritten.
//
//	buf  │ free │ kept │ free │ kept │ passed │ unread │ free │
//	                                         read     filled
type window struct {
	f    io.ReaderAt
	size int64 // of the part, bytes
	pos  int64 // in the part, of buf[read]

	buf    []byte
	std    []byte // windowSize bytes; buf is this one, or larger
	read   int
	filled int
	kept   []extent
	chunk  int  // bytes to read next
	last   bool // the last sample of the run: read little more than it needs
	calm   int  // samples since one needed more than std
}

// An extent is a kept field in the buffer.
type extent struct{ at, n int }

// reset turns to another part. A buffer that grew stays until samples have been small
// for a while: runs of one large sample come one after another.
func (w *window) reset(f io.ReaderAt, size, pos int64) {
	if w.std == nil {
		w.std = make([]byte, windowSize)
		w.buf = w.std
	}
	w.read = w.filled
	w.release()
	*w = window{f: f, size: size, pos: pos, buf: w.buf, std: w.std, kept: w.kept, chunk: firstRead, calm: w.calm}
}

func (w *window) offset() int64 { return w.pos }

func (w *window) peek(n int) ([]byte, error) {
	if w.filled-w.read < n {
		if err := w.fill(n); err != nil {
			return nil, err
		}
	}
	return w.buf[w.read : w.read+n], nil
}

func (w *window) skip(n int64) {
	w.pos += n
	if n <= int64(w.filled-w.read) {
		w.read += int(n)
	} else {
		w.filled = w.read // the next read begins behind what was skipped
	}
}

func (w *window) keep(n int64) error {
	if _, err := w.peek(int(n)); err != nil {
		return err
	}
	w.kept = append(w.kept, extent{w.read, int(n)})
	w.skip(n)
	return nil
}

func (w *window) release() {
	if len(w.buf) > windowSize {
		if w.keptBytes() > windowSize/2 {
			w.calm = 0
		} else if w.calm++; w.calm >= patience && w.filled-w.read <= windowSize {
			w.filled = copy(w.std, w.buf[w.read:w.filled])
			w.buf, w.read, w.calm = w.std, 0, 0
		}
	}
	w.kept = w.kept[:0]
}

// fields gives the sample's fields the bytes that were kept for them, in order.
func (w *window) fields(fields []converters.Field) {
	for i, k := range w.kept {
		fields[i].Value = converters.Bytes(w.buf[k.at : k.at+k.n : k.at+k.n])
	}
}

// fill reads until n bytes are unread. The caller knows that the part has them, and
// that n is within the limits.
func (w *window) fill(n int) error {
	missing := n - (w.filled - w.read)
	want := max(missing, w.chunk)
	if w.last && w.filled > 0 {
		want = missing + lastSlack
	}
	if len(w.buf)-w.filled < want {
		w.compact()
	}
	if len(w.buf)-w.filled < missing {
		w.grow(w.filled + missing)
	}
	from := w.pos + int64(w.filled-w.read)
	want = int(min(int64(want), int64(len(w.buf)-w.filled), w.size-from))
	got, err := w.f.ReadAt(w.buf[w.filled:w.filled+max(want, missing)], from)
	w.filled += got
	w.chunk = min(2*w.chunk, windowSize)
	if got < missing {
		return readError(err)
	}
	return nil
}

// compact moves what is kept and what is unread to the front of the buffer.
func (w *window) compact() {
	w.pack(w.buf)
}

// grow moves all to a buffer of at least n bytes, and a quarter more, since a sample
// that needs it may have more fields.
func (w *window) grow(n int) {
	n += n / 4
	buf := make([]byte, (n+windowSize-1)&^(windowSize-1))
	w.pack(buf)
	w.buf = buf
}

func (w *window) pack(dst []byte) {
	to := 0
	for i := range w.kept {
		k := &w.kept[i]
		copy(dst[to:], w.buf[k.at:k.at+k.n])
		k.at = to
		to += k.n
	}
	n := copy(dst[to:], w.buf[w.read:w.filled])
	w.read, w.filled = to, to+n
}

func (w *window) keptBytes() (n int) {
	for _, k := range w.kept {
		n += k.n
	}
	return n
}
