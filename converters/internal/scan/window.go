package scan

import "io"

const (
	nearby   = 4 << 10 // a jump over more bytes starts again with Sizes.First
	slack    = 4 << 10 // bytes read beyond what the last sample needs, for the header that ends it
	patience = 16      // calls of Relax before a grown buffer is given back
)

// Sizes decide how much is read at once, in bytes. Reads double from First to Usual.
type Sizes struct {
	First int // the first read, and the first one after a jump; 0: as much as the caller needs
	Usual int // the buffer, unless a caller asks for more at once
	Pad   int // zeros that follow the unread bytes, within the capacity of Buf
}

// A Window slides a buffer over one part. The zero value is ready for Reset, which may be called
// again for the next part. It is for one goroutine.
//
//	var w scan.Window
//	w.Reset(file, size, off, scan.Sizes{First: 64 << 10, Usual: 1 << 20})
//	header, err := w.Peek(512) // the next bytes; Pos stays
//	w.Skip(512)                // Pos moves on; bytes outside the buffer are not read
//	err = w.Keep(n)            // Pos moves on by n bytes, which stay until Relax
//
// The buffer has three regions. A read that needs room moves the kept bytes and the unread
// ones to the front, and overwrites the rest:
//
//	Buf  │ free │ kept │ free │ kept │ held │ unread │ pad │ free │
//	                                        Pos      len           cap
//
// A caller checks a length against Size and against its own limit before it asks for that many
// bytes: the buffer grows to that size. A part that has fewer bytes than Size when it
// is read is [converters.ErrChanged].
type Window struct {
	File io.ReaderAt // the part; a caller sets it to nil to let go of the file
	Size int64       // of the part, bytes
	Buf  []byte      // what was read; valid until the next call that reads
	Pos  int         // of the next byte, in Buf; a caller may move it up to len(Buf)
	Last bool        // the sample that is read is the last one: read little more than it needs

	sizes Sizes
	usual int   // capacity of the usual buffer: Usual and Pad
	base  int64 // in the part, of Buf[0], as if the bytes from first on had no gap before them
	first int   // from here on Buf is one row of the part
	chunk int   // bytes to read next
	begun bool  // there was a read since Reset
	kept  []extent
	mark  int // where the held bytes begin; -1: none are held
	calm  int // calls of Relax since the usual buffer was too small
}

// An extent is a row of kept bytes in Buf.
type extent struct{ at, n int }

// Reset turns to offset off of a part of size bytes. The buffer is used again; a new one is
// no larger than the rest of the part.
func (w *Window) Reset(f io.ReaderAt, size, off int64, sizes Sizes) {
	buf := w.Buf[:0]
	if n := int(max(min(int64(sizes.Usual), size-off), 0)); cap(buf) < n+sizes.Pad {
		buf = make([]byte, 0, n+sizes.Pad)
	}
	clear(buf[:sizes.Pad])
	*w = Window{File: f, Size: size, Buf: buf, sizes: sizes, usual: sizes.Usual + sizes.Pad, base: off, chunk: sizes.First, kept: w.kept[:0], mark: -1, calm: w.calm}
}

// Offset returns the place of the next byte, from the start of the part.
func (w *Window) Offset() int64 { return w.base + int64(w.Pos) }

// Unread returns how many bytes from Pos on are in the buffer.
func (w *Window) Unread() int { return len(w.Buf) - w.Pos }

// Complete reports whether the buffer has all that follows in the part.
func (w *Window) Complete() bool { return w.base+int64(len(w.Buf)) >= w.Size }

// Full reports whether the unread bytes are as many as the usual buffer has.
func (w *Window) Full() bool { return w.Unread() >= w.sizes.Usual }

// Fill reads until n bytes are unread.
func (w *Window) Fill(n int) error {
	if n <= len(w.Buf)-w.Pos {
		return nil
	}
	return w.fill(n)
}

// Peek returns the next n bytes. They are valid until the next call that reads.
func (w *Window) Peek(n int) ([]byte, error) {
	if n > len(w.Buf)-w.Pos {
		if err := w.fill(n); err != nil {
			return nil, err
		}
	}
	return w.Buf[w.Pos : w.Pos+n], nil
}

// Skip moves on by n bytes and reads none of them. Nothing is held.
func (w *Window) Skip(n int64) {
	if n <= int64(len(w.Buf)-w.Pos) {
		w.Pos += int(n)
		return
	}
	if n > nearby {
		w.chunk = w.sizes.First
	}
	w.base += n - int64(len(w.Buf)-w.Pos)
	w.Pos = len(w.Buf)
	w.first = w.Pos
}

// Since returns the bytes from an offset to Pos, where the buffer still has all of them.
func (w *Window) Since(off int64) ([]byte, bool) {
	at := off - w.base
	if at < int64(w.first) || at > int64(w.Pos) {
		return nil, false
	}
	return w.Buf[at:w.Pos], true
}

// SeekBack moves to an offset before Pos. Nothing is kept; held bytes begin there or before.
func (w *Window) SeekBack(off int64) {
	if b, ok := w.Since(off); ok {
		w.Pos -= len(b)
		return
	}
	w.base, w.Buf, w.Pos, w.first = off, w.Buf[:0], 0, 0
	clear(w.Buf[:w.sizes.Pad])
}

// Keep moves on by n bytes and keeps them.
func (w *Window) Keep(n int) error {
	if err := w.Fill(n); err != nil {
		return err
	}
	w.kept = append(w.kept, extent{w.Pos, n})
	w.Pos += n
	return nil
}

// Kept returns the bytes of call i of Keep since Relax, valid until the next call that reads.
func (w *Window) Kept(i int) []byte {
	k := w.kept[i]
	return w.Buf[k.at : k.at+k.n : k.at+k.n]
}

// Hold makes the bytes from here on stay until Drop, unless some are held already.
func (w *Window) Hold() {
	if w.mark < 0 {
		w.mark = w.Pos
	}
}

// Holds reports whether bytes are held.
func (w *Window) Holds() bool { return w.mark >= 0 }

// Held returns the held bytes up to Pos, valid until the next call that reads.
func (w *Window) Held() []byte { return w.Buf[w.mark:w.Pos:w.Pos] }

// Drop ends Hold.
func (w *Window) Drop() { w.mark = -1 }

// Relax ends Keep and Hold. Where the buffer has grown, it gives the buffer
// back once the usual one has been enough for a while: runs of one large sample come one
// after another.
func (w *Window) Relax() {
	w.kept, w.mark = w.kept[:0], -1
	if cap(w.Buf) > w.usual {
		w.shrink()
	}
}
