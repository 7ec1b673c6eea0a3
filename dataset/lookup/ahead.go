package lookup

import (
	"io"

	"github.com/ffconvert/ffconvert/dataset"
)

// leastAhead is how much the first read ahead takes, in bytes; the next ones double up to readSize.
const leastAhead = 64 << 10

// An ahead reads a shard that comes over a network. Where reads follow each other it requests more than is wanted: each request
// takes a round trip.
type ahead struct {
	file dataset.File
	size int64
	data []byte // from off on
	off  int64
	next int64 // where the last read ended
	most int64 // bytes of the next request; 0: what is wanted
}

// ReadAt may not be called concurrently.
func (a *ahead) ReadAt(p []byte, off int64) (int, error) {
	end := off + int64(len(p))
	if off >= a.off && end <= a.off+int64(len(a.data)) {
		a.next = end
		return copy(p, a.data[off-a.off:]), nil
	}
	if off == a.next {
		a.most = min(max(2*a.most, leastAhead), readSize)
	} else {
		a.most = 0
	}
	a.next = end
	if a.data = a.data[:0]; int64(len(p)) >= a.most {
		return a.file.ReadAt(p, off)
	}
	if a.data == nil {
		a.data = make([]byte, 0, readSize)
	}
	n, err := a.file.ReadAt(a.data[:min(a.most, a.size-off)], off)
	a.data, a.off = a.data[:n], off
	if n = copy(p, a.data); n == len(p) {
		err = nil
	} else if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
