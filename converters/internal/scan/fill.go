package scan

import (
	"errors"
	"fmt"
	"io"

	"github.com/ffconvert/ffconvert/converters"
)

// ReadFull reads all of b. A file that is too short has changed.
func ReadFull(f io.ReaderAt, b []byte, off int64) error {
	n, err := f.ReadAt(b, off)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return fmt.Errorf("%w: it became shorter", converters.ErrChanged)
	}
	return err
}

// fill does the work of Fill if fewer than n bytes are unread.
func (w *Window) fill(n int) error {
	stays := w.stays()
	if stays+n > w.sizes.Usual {
		w.calm = 0
	}
	missing := n - w.Unread()
	want := max(missing, w.chunk)
	if w.Last && w.begun {
		want = missing + slack
	}
	w.begun = true
	w.chunk = min(2*want, w.sizes.Usual)
	from := w.base + int64(len(w.Buf))
	want = max(int(min(int64(want), w.Size-from)), missing)

	if w.room() < want {
		to := w.Buf[:0]
		if need := stays + n; need > cap(to)-w.sizes.Pad {
			usual := w.sizes.Usual // a quarter more than needed, since more may follow
			to = make([]byte, 0, (need+need/4+usual-1)/usual*usual+w.sizes.Pad)
		}
		w.pack(to)
	}
	end := len(w.Buf)
	to := end + min(want, w.room())
	if err := ReadFull(w.File, w.Buf[end:to], from); err != nil {
		return err
	}
	w.Buf = w.Buf[:to]
	clear(w.Buf[to : to+w.sizes.Pad])
	return nil
}

// shrink counts a call of Relax, and replaces a buffer that has grown.
func (w *Window) shrink() {
	if w.Unread() > w.sizes.Usual {
		return
	}
	if w.calm++; w.calm > patience {
		w.calm = 0
		w.pack(make([]byte, 0, w.usual))
	}
}

// room returns how many bytes can be read after the unread ones.
func (w *Window) room() int { return cap(w.Buf) - w.sizes.Pad - len(w.Buf) }

// stays returns how many bytes before Pos are kept or held.
func (w *Window) stays() int {
	n := 0
	for _, k := range w.kept {
		n += k.n
	}
	if w.mark >= 0 {
		n += w.Pos - w.mark
	}
	return n
}

// pack moves the kept, held and unread bytes to the front of to, which may be Buf.
func (w *Window) pack(to []byte) {
	for i := range w.kept {
		k := &w.kept[i]
		at := len(to)
		to = append(to, w.Buf[k.at:k.at+k.n]...)
		k.at = at
	}
	w.first = len(to)
	from := w.Pos
	if w.mark >= 0 {
		from, w.mark = w.mark, len(to)
	}
	moved := from - len(to)
	w.Buf = append(to, w.Buf[from:]...)
	w.Pos -= moved
	w.base += int64(moved)
	clear(w.Buf[len(w.Buf) : len(w.Buf)+w.sizes.Pad])
}
