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

// tableBufSize is that of the tables where there is no Taker.
const tableBufSize = 64 << 10

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
	w     io.WriterAt
	taker Taker // w, if it is one
	n     int64
	added int64
	err   error
	done  bool
	sum   Summary

	// The three regions of the file, which are filled side by side: nothing is held but a
	// buffer of each, however many samples there are.
	sums, offs, data region

	rows struct{ sums, offs []byte } // of a batch
}

// A Taker is an io.WriterAt that may write later. A Writer fills the buffers of a Taker, gives them
// back full, and goes on in the ones that it gets for them: it holds WriterBuffers of them. The Taker
// writes what comes in the order in which it comes, and nothing after an error, which each later call
// returns.
//
// A buffer is full where the file reaches a multiple of its capacity: all that a Writer hands over
// but the first and the last of the samples and of each table begins and ends at such a place, as
// writes past the page cache must.
type Taker interface {
	io.WriterAt
	// TakeAt writes p at off. p belongs to the Taker from now on; next is empty, and all have the same
	// capacity. Where p is empty too there is nothing to write: so a Writer begins.
	TakeAt(p []byte, off int64) (next []byte, err error)
}

// WriterBuffers is how many buffers of a Taker a Writer holds between two calls.
const WriterBuffers = 3

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
	wr := &Writer{w: w, n: n}
	var head [headSize]byte
	putHead(head[:], 0, n)
	wr.sums = region{off: headSize, crc: crc32.ChecksumIEEE(head[coverOff:])}
	wr.offs = region{off: offsetsOff(n)}
	wr.data = region{off: payloadOff(n)}
	putHead(head[:], poison32, poisonN)
	wr.writeAt(head[:], 0)
	if t, ok := w.(Taker); ok {
		wr.taker = t
		for _, r := range wr.regions() {
			wr.take(r)
		}
	} else {
		wr.sums.buf = make([]byte, 0, min(tableBufSize, offsetsOff(n))) // one write where it is small
		wr.offs.buf = make([]byte, 0, min(tableBufSize, payloadOff(n)))
		wr.data.buf = make([]byte, 0, bufSize)
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
	e := Extent{Off: w.data.end(), Size: size}
	for _, p := range parts {
		e.CRC = updateCRC(e.CRC, p)
		w.put(&w.data, p)
	}
	w.enter(&e)
	w.putRows()
	if w.err != nil {
		return Extent{}, w.err
	}
	return e, nil
}

// AppendBatch adds samples that lie back to back in data, each up to its end in ends, the last of
// which is the end of data. It does what Append does for each, in less time where they are small,
// and appends their extents to at. data may be reused as soon as it returns.
func (w *Writer) AppendBatch(at []Extent, data []byte, ends []int) ([]Extent, error) {
	if err := w.accept(int64(len(ends)), int64(len(data))); err != nil {
		return at, err
	}
	start, from := w.data.end(), 0
	for _, end := range ends {
		e := Extent{Off: start + int64(from), Size: int64(end - from), CRC: updateCRC(0, data[from:end])}
		w.enter(&e)
		at = append(at, e)
		from = end
	}
	w.put(&w.data, data)
	w.putRows()
	return at, w.err
}

// enter makes the rows of a sample.
func (w *Writer) enter(e *Extent) {
	w.rows.sums = appendSum(w.rows.sums, e.CRC)
	w.rows.offs = appendOff(w.rows.offs, e.Off)
	w.added++
}

// putRows puts the rows that were made into the tables.
func (w *Writer) putRows() {
	w.sums.crc = updateCRC(w.sums.crc, w.rows.sums)
	w.offs.crc = updateCRC(w.offs.crc, w.rows.offs)
	w.put(&w.sums, w.rows.sums)
	w.put(&w.offs, w.rows.offs)
	w.rows.sums, w.rows.offs = w.rows.sums[:0], w.rows.offs[:0]
}

// accept says whether so many samples, of size bytes in all, may be appended.
func (w *Writer) accept(samples, size int64) error {
	switch {
	case w.err != nil:
		return w.err
	case w.done:
		return errors.New("append to a closed shard")
	case samples > w.n-w.added:
		return w.fail(fmt.Errorf("append sample %d to a shard of %d: %w", w.n, w.n, ErrRange))
	case size > math.MaxInt64-w.data.end():
		return w.fail(fmt.Errorf("append sample %d: file %w", w.added, ErrTooLarge))
	}
	return nil
}

// Close writes what is buffered, and last of all the head. Fewer samples than promised
// is an error and leaves the poison head. Syncing, closing and naming the file is the caller's: only
// a file that was synced after Close is durable. A second Close returns what the first did.
func (w *Writer) Close() (Summary, error) {
	if w.err != nil || w.done {
		return w.sum, w.err
	}
	if w.added < w.n {
		return Summary{}, w.fail(fmt.Errorf("close a shard of %d samples after %d: %w", w.n, w.added, ErrRange))
	}
	for _, r := range w.regions() {
		w.flush(r)
	}
	crc := joinCRC(w.sums.crc, w.offs.crc, offSize*w.n)
	var head [headSize]byte
	putHead(head[:], crc, w.n)
	if w.writeAt(head[:], 0); w.err != nil {
		return Summary{}, w.err
	}
	w.drop()
	w.done = true
	w.sum = Summary{Samples: w.n, Size: w.data.off, HeaderCRC: crc}
	return w.sum, nil
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
	w.err = err
	w.drop()
	return err
}

// drop forgets the buffers.
func (w *Writer) drop() {
	for _, r := range w.regions() {
		r.buf = nil
	}
	w.rows.sums, w.rows.offs = nil, nil
}
