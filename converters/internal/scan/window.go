package scan

import "io"

const (
	nearby   = 4 << 10 // a jump over more bytes starts again with a read of Sizes.First
	slack    = 4 << 10 // bytes read beyond the end of the last sample, for the header that ends it
	patience = 16      // calls of Relax before a grown buffer is replaced
)

// Sizes control the size of reads, in bytes. Reads double from First to Usual.
type Sizes struct {
	First int // the first read, and the first one after a jump; 0: as much as needed
	Usual int // the buffer, unless a caller needs more at once
	Pad   int // zeros that follow the unread bytes, within the capacity of Buf
}

// A Window slides a buffer over one part. The zero value is ready for Reset, which may be called again for the next
// part. It must not be used concurrently.
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
// A caller must check a length against Size and against its own limit before it requests that many bytes: the buffer
// grows to that size. A part that has fewer bytes than Size when it is read is [converters.ErrChanged].
type Window struct {
	File io.ReaderAt // the part; a caller sets it to nil to release the file
	Size int64       // of the part, bytes
	Buf  []byte      // the bytes read; valid until the next call that reads
	Pos  int         // of the next byte, in Buf; a caller may move it up to len(Buf)
	Last bool        // the current sample is the last one: read little more than it needs

	sizes Sizes
	usual int   // capacity of the usual buffer: Usual and Pad
	base  int64 // offset in the part of Buf[0], if Buf had no gap before first
	first int   // from here on Buf is contiguous in the part
	chunk int   // size of the next read
	begun bool  // there was a read since Reset
	kept  []extent
	mark  int // start of the held bytes in Buf; -1: none
	calm  int // calls of Relax since the usual buffer was too small
}

// An extent is a contiguous range of kept bytes in Buf.
type extent struct{ at, n int }

// Reset starts at offset off of a part of size bytes. The buffer is reused; a new one is no larger than the rest of the
// part.
func (w *Window) Reset(f io.ReaderAt, size, off int64, sizes Sizes) {
	buf := w.Buf[:0]
	if n := int(max(min(int64(sizes.Usual), size-off), 0)); cap(buf) < n+sizes.Pad {
		buf = make([]byte, 0, n+sizes.Pad)
	}
	clear(buf[:sizes.Pad])
	*w = Window{File: f, Size: size, Buf: buf, sizes: sizes, usual: sizes.Usual + sizes.Pad, base: off, chunk: sizes.First, kept: w.kept[:0], mark: -1, calm: w.calm}
}

// Offset returns the offset of the next byte in the part.
func (w *Window) Offset() int64 { return w.base + int64(w.Pos) }

// Unread returns how many bytes after Pos are in the buffer.
func (w *Window) Unread() int { return len(w.Buf) - w.Pos }

// Complete reports whether the buffer reaches the end of the part.
func (w *Window) Complete() bool { return w.base+int64(len(w.Buf)) >= w.Size }

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

// Skip advances by n bytes without reading them. No bytes may be held.
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

// Since returns the bytes from an offset to Pos, false unless all of them are in the buffer.
func (w *Window) Since(off int64) ([]byte, bool) {
	at := off - w.base
	if at < int64(w.first) || at > int64(w.Pos) {
		return nil, false
	}
	return w.Buf[at:w.Pos], true
}

// SeekBack moves back to an offset before Pos. No bytes may be kept, and held bytes must not begin after the offset.
func (w *Window) SeekBack(off int64) {
	if b, ok := w.Since(off); ok {
		w.Pos -= len(b)
		return
	}
	w.base, w.Buf, w.Pos, w.first = off, w.Buf[:0], 0, 0
	clear(w.Buf[:w.sizes.Pad])
}

// Keep advances by n bytes and keeps them until Relax.
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

// Hold keeps the bytes from Pos on until Drop, unless bytes are held already.
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

// Relax ends Keep and Hold. It replaces a buffer that has grown after the usual size has sufficed for several calls,
// since large samples often follow one another.
func (w *Window) Relax() {
	w.kept, w.mark = w.kept[:0], -1
	if cap(w.Buf) > w.usual {
		w.shrink()
	}
}
