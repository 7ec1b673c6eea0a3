package record

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// bufSize is the unit of file I/O in bytes: large enough that a call costs nothing beside it.
const bufSize = 1 << 20

// An Extent is the place of one sample in its file.
type Extent struct {
	Off  int64  // first byte, from the start of the file
	Size int64  // bytes
	CRC  uint32 // CRC-32 (IEEE) of those bytes
}

// A Summary is what identifies a finished file.
type Summary struct {
	Samples   int64
	Size      int64  // bytes of the file
	HeaderCRC uint32 // as stored; it covers every sample's CRC, hence the whole file
}

// A Writer writes one shard. Until Close succeeds the file has a head that every reader refuses,
// ours and the original one. A Writer is for one goroutine. It is sticky: after an error each
// later call returns that error.
type Writer struct {
	w      io.WriterAt
	taker  Taker // w, if it is one
	n      int64
	sums   column[uint32]
	offs   column[int64]
	buf    []byte
	bufOff int64 // where in the file buf[0] belongs
	err    error
	done   bool
	sum    Summary
}

// A Taker is an io.WriterAt that may write later. A Writer fills the buffers of a Taker, gives them
// back full, and goes on in the ones that it gets for them. The Taker writes what comes in the order
// in which it comes, and nothing after an error, which each later call returns.
//
// A buffer is full where the file reaches a multiple of its capacity: all that a Writer hands over
// but the first and the last of the samples and of the tables begins and ends at such a place, as
// writes past the page cache must.
type Taker interface {
	io.WriterAt
	// TakeAt writes p at off. p belongs to the Taker from now on; next is empty, and all have the same
	// capacity, a multiple of 8. Where p is empty too there is nothing to write: so a Writer begins.
	TakeAt(p []byte, off int64) (next []byte, err error)
}

// NewWriter starts a shard of exactly n samples, 0 ≤ n ≤ MaxSamples, and writes the poison head at
// once. w must be empty or all zero, and nobody else may write to it; it may be a Taker. The Writer seeks nothing and
// never reads; it leaves syncing and closing w to the caller.
func NewWriter(w io.WriterAt, n int64) (*Writer, error) {
	switch {
	case n < 0:
		return nil, fmt.Errorf("shard of %d samples: %w", n, ErrRange)
	case n > MaxSamples:
		return nil, fmt.Errorf("shard of %d samples: %w of %d; use more shards", n, ErrTooLarge, int64(MaxSamples))
	}
	wr := &Writer{w: w, n: n, bufOff: payloadOff(n)}
	var head [headSize]byte
	putHead(head[:], poison32, poisonN)
	wr.writeAt(head[:], 0)
	if t, ok := w.(Taker); ok {
		wr.taker = t
		wr.take(nil)
	} else {
		wr.buf = make([]byte, 0, bufSize)
	}
	if wr.err != nil {
		return nil, wr.err
	}
	return wr, nil
}

// Append adds one sample, which is its parts one after the other; no part, or only empty ones, is
// an empty sample. The parts may be reused as soon as Append returns. A part of 1 MiB or more is not
// copied where the buffer is empty and no Taker's. More than n samples is an error.
func (w *Writer) Append(parts ...[]byte) (Extent, error) {
	size := int64(0)
	for _, p := range parts {
		size += int64(len(p))
	}
	if err := w.accept(1, size); err != nil {
		return Extent{}, err
	}
	e := Extent{Off: w.bufOff + int64(len(w.buf)), Size: size}
	for _, p := range parts {
		e.CRC = updateCRC(e.CRC, p)
		w.put(p)
	}
	if w.err != nil {
		return Extent{}, w.err
	}
	w.sums.add(e.CRC, w.n)
	w.offs.add(e.Off, w.n)
	return e, nil
}

// AppendBatch adds samples that lie back to back in data, each up to its end in ends, the last of
// which is the end of data. It does what Append does for each, in less time where they are small,
// and appends their extents to at. data may be reused as soon as it returns.
func (w *Writer) AppendBatch(at []Extent, data []byte, ends []int) ([]Extent, error) {
	if err := w.accept(int64(len(ends)), int64(len(data))); err != nil {
		return at, err
	}
	start, from := w.bufOff+int64(len(w.buf)), 0
	for _, end := range ends {
		e := Extent{Off: start + int64(from), Size: int64(end - from), CRC: updateCRC(0, data[from:end])}
		w.sums.add(e.CRC, w.n)
		w.offs.add(e.Off, w.n)
		at = append(at, e)
		from = end
	}
	w.put(data)
	return at, w.err
}

// accept says whether so many samples, of size bytes in all, may be appended.
func (w *Writer) accept(samples, size int64) error {
	switch {
	case w.err != nil:
		return w.err
	case w.done:
		return errors.New("append to a closed shard")
	case samples > w.n-w.offs.n:
		return w.fail(fmt.Errorf("append sample %d to a shard of %d: %w", w.n, w.n, ErrRange))
	case size > math.MaxInt64-w.bufOff-int64(len(w.buf)):
		return w.fail(fmt.Errorf("append sample %d: file %w", w.offs.n, ErrTooLarge))
	}
	return nil
}

// Close writes what is buffered, the tables, and last of all the head. Fewer samples than promised
// is an error and leaves the poison head. Syncing, closing and naming the file is the caller's: only
// a file that was synced after Close is durable. A second Close returns what the first did.
func (w *Writer) Close() (Summary, error) {
	if w.err != nil || w.done {
		return w.sum, w.err
	}
	if w.offs.n < w.n {
		return Summary{}, w.fail(fmt.Errorf("close a shard of %d samples after %d: %w", w.n, w.offs.n, ErrRange))
	}
	w.flush()
	size := w.bufOff

	var head [headSize]byte
	putHead(head[:], 0, w.n)
	crc := crc32.ChecksumIEEE(head[coverOff:])
	w.bufOff = headSize
	table := make([]byte, 0, offSize*min(w.n, chunkLen))
	for _, chunk := range w.sums.chunks {
		table = table[:0]
		for _, sum := range chunk {
			table = appendSum(table, sum)
		}
		crc = crc32.Update(crc, crc32.IEEETable, table)
		w.put(table)
	}
	for _, chunk := range w.offs.chunks {
		table = table[:0]
		for _, off := range chunk {
			table = appendOff(table, off)
		}
		crc = crc32.Update(crc, crc32.IEEETable, table)
		w.put(table)
	}
	w.flush()

	putHead(head[:], crc, w.n)
	if w.writeAt(head[:], 0); w.err != nil {
		return Summary{}, w.err
	}
	w.done, w.buf = true, nil
	w.sums, w.offs = column[uint32]{}, column[int64]{}
	w.sum = Summary{Samples: w.n, Size: size, HeaderCRC: crc}
	return w.sum, nil
}

// put sends p on its way to the file, through the buffer or past it.
func (w *Writer) put(p []byte) {
	for len(p) > 0 && w.err == nil {
		if w.taker == nil && len(w.buf) == 0 && len(p) >= cap(w.buf) {
			w.writeAt(p, w.bufOff)
			w.bufOff += int64(len(p))
			return
		}
		k := min(len(p), w.room())
		w.buf = append(w.buf, p[:k]...)
		p = p[k:]
		if w.room() == 0 {
			w.flush()
		}
	}
}

// room is how much the buffer takes until the file reaches a multiple of its capacity.
func (w *Writer) room() int {
	return cap(w.buf) - int(w.bufOff%int64(cap(w.buf))) - len(w.buf)
}

// flush writes the buffer and makes it empty.
func (w *Writer) flush() {
	n := len(w.buf)
	switch {
	case n == 0:
		return
	case w.taker != nil:
		w.take(w.buf)
	default:
		w.writeAt(w.buf, w.bufOff)
		w.buf = w.buf[:0]
	}
	w.bufOff += int64(n)
}

// take hands p over for the next buffer.
func (w *Writer) take(p []byte) {
	if w.err != nil {
		return
	}
	next, err := w.taker.TakeAt(p, w.bufOff)
	if w.buf = next; err != nil {
		w.fail(fmt.Errorf("write %d bytes at byte %d: %w", len(p), w.bufOff, err))
	}
}

// writeAt does nothing after an error, so that a head can never follow a failed write.
func (w *Writer) writeAt(p []byte, off int64) {
	if w.err != nil {
		return
	}
	k, err := w.w.WriteAt(p, off)
	if err == nil && k != len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.fail(fmt.Errorf("write %d bytes at byte %d: %w", len(p), off, err))
	}
}

func (w *Writer) fail(err error) error {
	w.err, w.buf = err, nil
	return err
}
