package tar

import "io"

// Headers nearer to each other than nearby are read together, with what lies between
// them, in reads of up to hopperSize bytes: of small members a read for each header is three
// quarters of the work of a conversion (BenchmarkIndex).
const (
	nearby     = 4 << 10
	hopperSize = 64 << 10
)

// A hopper is the cursor of Index: what is peeked at is read, and hardly more.
type hopper struct {
	f   io.ReaderAt
	off int64

	buf   []byte
	at    int64 // in the part, of buf[0]
	end   int64 // of what was peeked at last
	chunk int   // bytes that were read last
}

func (h *hopper) offset() int64      { return h.off }
func (h *hopper) skip(n int64)       { h.off += n }
func (h *hopper) keep(n int64) error { h.off += n; return nil }
func (h *hopper) release()           {}

func (h *hopper) peek(n int) ([]byte, error) {
	if h.off < h.at || h.off+int64(n) > h.at+int64(len(h.buf)) {
		if err := h.fill(n); err != nil {
			return nil, err
		}
	}
	h.end = h.off + int64(n)
	from := int(h.off - h.at)
	return h.buf[from : from+n], nil
}

// fill reads n bytes, and more where what was peeked at last is near.
func (h *hopper) fill(n int) error {
	want := n
	if h.end > 0 && h.end <= h.off && h.off-h.end <= nearby {
		want = max(n, min(2*h.chunk, hopperSize))
	}
	h.chunk = want
	if want > cap(h.buf) {
		h.buf = make([]byte, want)
	}
	got, err := h.f.ReadAt(h.buf[:want], h.off)
	h.buf, h.at = h.buf[:got], h.off
	if got < n {
		return readError(err)
	}
	return nil
}
