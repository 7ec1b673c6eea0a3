package record

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// bufSize is the size in bytes of the buffers for samples and for reading headers. It is large, so
// that the cost of a system call does not matter.
const bufSize = 1 << 20

// tableBufSize is the size in bytes of the buffers for the tables without SwapAt.
const tableBufSize = 64 << 10

// An Extent is the location of one sample in its file.
type Extent struct {
	Off  int64  // offset of the first byte in the file
	Size int64  // bytes
	CRC  uint32 // CRC-32 (IEEE) of the sample
}

// A Writer writes one shard. Until Close succeeds the file has a head that every reader refuses, including the original
// one. After an error each later call returns that error. A Writer must not be used concurrently.
type Writer struct {
	w       io.WriterAt
	swapper bufferSwapper // w, if it implements the interface
	n       int64         // samples promised
	added   int64         // samples appended
	err     error
	done    bool
	sum     FileInfo

	// The three regions of the file are written alternately, each through a buffer of its own, so that the
	// memory does not depend on the number of samples.
	sums, offs, data region

	rows struct{ sums, offs []byte } // table rows of the samples of one call
}

// A bufferSwapper writes asynchronously; [NewWriter] has its contract.
type bufferSwapper interface {
	io.WriterAt
	SwapAt(p []byte, off int64) (next []byte, err error)
}

// WriterBuffers is the number of buffers that a Writer holds of a w that has SwapAt, see [NewWriter].
const WriterBuffers = 3

// NewWriter starts a shard of exactly n samples, 0 ≤ n ≤ MaxSamples, and writes a head that readers
// refuse. w must be empty or all zero, and only the Writer may write to it until Close. The caller syncs and closes w.
//
// If w has a method SwapAt(p []byte, off int64) (next []byte, err error), the Writer fills the buffers of w, WriterBuffers at a
// time, and w may write them asynchronously. SwapAt writes p at off, owns p from then on, and returns an empty buffer; with an
// empty p it only returns one. All buffers have the same capacity. w writes them in the order of calls; after an error it writes
// nothing more and returns the error from each later call. A buffer is swapped when the offset in the file reaches a multiple of
// its capacity, so it begins and ends at such offsets, as writes past the page cache must, but for the first and the last one of
// the samples and of each table.
func NewWriter(w io.WriterAt, n int64) (*Writer, error) {
	switch {
	case n < 0:
		return nil, fmt.Errorf("shard of %d samples: %w", n, errRange)
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
	if s, ok := w.(bufferSwapper); ok {
		wr.swapper = s
		for _, r := range wr.regions() {
			wr.swap(r)
		}
	} else {
		wr.sums.buf = make([]byte, 0, min(tableBufSize, offsetsOff(n))) // a small table is one write
		wr.offs.buf = make([]byte, 0, min(tableBufSize, payloadOff(n)))
		wr.data.buf = make([]byte, 0, bufSize)
	}
	if wr.err != nil {
		return nil, wr.err
	}
	return wr, nil
}

// Append appends one sample, the concatenation of parts. Without parts, or with empty ones only, the sample is empty.
// Append does not keep parts. Without SwapAt it does not copy a part of 1 MiB or more if the buffer is empty. Appending
// more than n samples is an error.
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

// AppendBatch appends samples that are adjacent in data and fill it. at has their sizes, and their CRCs where the caller
// knows them: 0 is computed. The file is the same as with one Append per sample, but many small samples take less time.
// AppendBatch completes at. It does not keep data.
func (w *Writer) AppendBatch(at []Extent, data []byte) error {
	if err := w.accept(int64(len(at)), int64(len(data))); err != nil {
		return err
	}
	off, rest := w.data.end(), data
	for i := range at {
		e := &at[i]
		if e.Size < 0 || e.Size > int64(len(rest)) {
			w.err = fmt.Errorf("record: sample %d of a batch of %d has %d bytes; %d of the %d are left", i, len(at), e.Size, len(rest), len(data))
			return w.err
		}
		e.Off = off
		if e.CRC == 0 {
			e.CRC = updateCRC(0, rest[:e.Size])
		}
		w.enter(e)
		off, rest = off+e.Size, rest[e.Size:]
	}
	w.put(&w.data, data)
	w.putRows()
	return w.err
}

// enter adds the table rows of a sample to w.rows.
func (w *Writer) enter(e *Extent) {
	w.rows.sums = appendSum(w.rows.sums, e.CRC)
	w.rows.offs = appendOff(w.rows.offs, e.Off)
	w.added++
}

// putRows moves w.rows into the tables.
func (w *Writer) putRows() {
	w.sums.crc = updateCRC(w.sums.crc, w.rows.sums)
	w.offs.crc = updateCRC(w.offs.crc, w.rows.offs)
	w.put(&w.sums, w.rows.sums)
	w.put(&w.offs, w.rows.offs)
	w.rows.sums, w.rows.offs = w.rows.sums[:0], w.rows.offs[:0]
}

// accept returns an error if samples of size bytes in all cannot be appended.
func (w *Writer) accept(samples, size int64) error {
	switch {
	case w.err != nil:
		return w.err
	case w.done:
		return errors.New("append to a closed shard")
	case samples > w.n-w.added:
		return w.fail(fmt.Errorf("append sample %d to a shard of %d: %w", w.n, w.n, errRange))
	case size > math.MaxInt64-w.data.end():
		return w.fail(fmt.Errorf("append sample %d: file %w", w.added, ErrTooLarge))
	}
	return nil
}

// Close writes the buffers and then the head. If fewer than n samples were appended, Close returns an error and readers
// refuse the file. The caller must sync, close and rename the file; it is durable only if it is synced after Close. A
// second Close returns the same as the first.
func (w *Writer) Close() (FileInfo, error) {
	if w.err != nil || w.done {
		return w.sum, w.err
	}
	if w.added < w.n {
		return FileInfo{}, w.fail(fmt.Errorf("close a shard of %d samples after %d: %w", w.n, w.added, errRange))
	}
	for _, r := range w.regions() {
		w.flush(r)
	}
	crc := joinCRC(w.sums.crc, w.offs.crc, offSize*w.n)
	var head [headSize]byte
	putHead(head[:], crc, w.n)
	if w.writeAt(head[:], 0); w.err != nil {
		return FileInfo{}, w.err
	}
	w.drop()
	w.done = true
	w.sum = FileInfo{Samples: w.n, Size: w.data.off, HeaderCRC: crc}
	return w.sum, nil
}

// writeAt does nothing after an error, so that the head is never written after a failed write.
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

// drop releases the buffers.
func (w *Writer) drop() {
	for _, r := range w.regions() {
		r.buf = nil
	}
	w.rows.sums, w.rows.offs = nil, nil
}
