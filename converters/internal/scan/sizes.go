package scan

// Sizes of reads in bytes. The first read, and the first one after a jump, is small for an index and for a single
// sample. Reads double up to the size of the buffer, which fits into the processor's cache.
const (
	SmallRead   = 4 << 10
	firstSweep  = 64 << 10
	indexWindow = 64 << 10
	readWindow  = 256 << 10
)

// Sizes returns the default read sizes for a pass.
func (p *Pass) Sizes() Sizes {
	switch {
	case p.Index:
		return Sizes{First: SmallRead, Usual: indexWindow}
	case p.Run.Count == 1:
		return Sizes{First: SmallRead, Usual: readWindow}
	}
	return Sizes{First: firstSweep, Usual: readWindow}
}

// Begin resets the window to the start of a pass.
func (w *Window) Begin(p *Pass, sizes Sizes) { w.Reset(p.File, p.Part.Size, p.Run.Off, sizes) }

// mostIdle is the capacity, in bytes, up to which a buffer is kept for the next pass. Idle readers are kept as long as
// their source.
const mostIdle = 16 << 20

// End releases the file, and a buffer that has grown for large samples. No bytes of it may be used any more.
func (w *Window) End() {
	w.File = nil
	if cap(w.Buf) > mostIdle {
		w.Buf = nil
	}
}

// reusable is the capacity, in elements, up to which a slice is reused for the next sample.
const reusable = 64 << 10

// Reuse returns an empty slice with the memory of b, or nil if that exceeds reusable.
func Reuse[T any](b []T) []T {
	if cap(b) > reusable {
		return nil
	}
	return b[:0]
}
