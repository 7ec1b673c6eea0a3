package csv

import (
	"errors"
	"fmt"
	"io"

	"github.com/ffconvert/ffconvert/converters"
)

// Sizes of reads, bytes. The first is small, since a run may be one row; they double up
// to what keeps both the device and the processor's cache content, and reads little beyond
// a run of short rows.
const (
	firstRead  = 4 << 10
	windowSize = 256 << 10
	maxBuffer  = 1 << 40 // keeps the arithmetic on sizes far from overflow
)

// A window is a buffer that slides over a part. It holds at least the row that is being
// read, and pad zeros follow what it holds.
//
//	buf  │ passed │ unread │ pad │ free │
//	              pos      end
type window struct {
	f    io.ReaderAt
	size int64 // of the part, bytes
	base int64 // in the part, of buf[0]

	buf      []byte
	std      []byte // windowSize bytes and pad; buf is this one, or a larger one for a large row
	pos, end int
	chunk    int // bytes to read next
}

// reset turns to another part.
func (w *window) reset(f io.ReaderAt, size, from int64) {
	if w.std == nil {
		w.std = make([]byte, windowSize+pad)
	}
	*w = window{f: f, size: size, base: from, buf: w.std, std: w.std, chunk: firstRead}
	clear(w.buf[:pad])
}

// offset returns the place in the part, bytes from its start.
func (w *window) offset() int64 { return w.base + int64(w.pos) }

// complete reports whether the window holds all that follows in the part.
func (w *window) complete() bool { return w.base+int64(w.end) >= w.size }

// full reports whether there is no room for more of a row that begins at pos.
func (w *window) full() bool { return w.pos == 0 && w.end == len(w.buf)-pad }

// more drops what is passed and reads on. The caller knows that the window is neither
// complete nor full.
func (w *window) more() error {
	to := w.buf
	if w.end-w.pos < len(w.std)-pad {
		to = w.std // a large row has passed: its buffer is given back
	}
	unread := copy(to, w.buf[w.pos:w.end])
	w.buf, w.base, w.pos, w.end = to, w.offset(), 0, unread
	n := int(min(int64(w.chunk), int64(len(w.buf)-pad-w.end), w.size-w.base-int64(w.end)))
	w.chunk = min(2*w.chunk, windowSize)
	return w.read(n)
}

// grow makes room for a row of n bytes at pos 0, more than there is, and reads all of it.
func (w *window) grow(n int64) error {
	buf := make([]byte, n+pad)
	copy(buf, w.buf[:w.end])
	w.buf = buf
	return w.read(int(n) - w.end)
}

// read appends n bytes, which the part has unless it changed.
func (w *window) read(n int) error {
	got, err := w.f.ReadAt(w.buf[w.end:w.end+n], w.base+int64(w.end))
	w.end += got
	clear(w.buf[w.end : w.end+pad])
	if got < n {
		return readError(err)
	}
	return nil
}

// readError tells of a read that gave less than the part's size promised.
func readError(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it became shorter", converters.ErrChanged)
	}
	return err
}

// measure returns how many bytes the row that begins at pos has, its line end included,
// at most as many as follow and no more than limit+1. It keeps nothing of them: that is
// what makes a row without end cost no memory.
func (w *window) measure(delimiter byte, limit int64) (int64, error) {
	from := w.offset()
	most := min(w.size-from, limit+1)
	block := make([]byte, 64<<10)
	begins, quoted, inside := true, false, false // the next byte begins a value; it has quotes; is between them
	for n := int64(0); n < most; {
		b := block[:min(int64(len(block)), most-n)]
		if got, err := w.f.ReadAt(b, from+n); got < len(b) {
			return 0, readError(err)
		}
		for i, c := range b {
			switch {
			case c == '"':
				quoted = quoted || begins
				inside = quoted && !inside // one that is written twice ends the value and goes on
				begins = false
			case inside:
			case c == '\n':
				return n + int64(i) + 1, nil
			default:
				begins = c == delimiter
				quoted = quoted && !begins
			}
		}
		n += int64(len(b))
	}
	return most, nil
}
