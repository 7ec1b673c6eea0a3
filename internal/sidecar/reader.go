// package sidecar reads the index of a shard, an Arrow file with one row per sample.
//
//	r, err := sidecar.Open(file, size)    // to read it from the first row on
//	r.SkipTo(n)                           // or from any row on
//	f, err := sidecar.OpenFinder(file, size, n) // to read rows at many places
//	row, err := f.Rows(file, n, 1).Next()
//
// An index has up to three kinds of columns: key; label; and the places of the samples (ordinal, offset, length,
// crc32, source, source_offset), which the header of the shard has as well. If the sources of the samples follow a
// rule, the metadata of the schema have the rule instead of the last two columns: docs/reading.md.
package sidecar

import (
	"fmt"
	"io"
	"math"
	"sort"

	"github.com/ffconvert/ffconvert/internal/arrowipc"
	"github.com/ffconvert/ffconvert/internal/place"
)

// ErrMalformed reports a file that is not the index of a shard.
var ErrMalformed = place.New(place.Corrupt, "not the index of a shard")

// A Reader reads rows of an index. It must not be used concurrently.
type Reader struct {
	file     io.ReaderAt
	size     int64
	start    int64            // offset of the first batch
	messages *arrowipc.Stream // of the batches after batch
	batches  []batch          // all batches, if messages is nil
	batch    batch            // the batch that was last read
	next     int64            // the row after those of chunk
	end      int64            // the row after the last one to read
	chunk    chunk

	SourceOffs bool // set Row.SourceOff, too
}

// Open returns a reader of an index of size bytes. Next then returns the first row.
func Open(r io.ReaderAt, size int64) (*Reader, error) {
	m, l, err := open(r, size)
	if err != nil {
		return nil, err
	}
	return &Reader{file: r, size: size, start: m.Offset(), messages: m, end: math.MaxInt64, chunk: chunk{layout: l}}, nil
}

// Keyed reports whether the index has keys.
func (x *Reader) Keyed() bool { return x.chunk.layout.has[keyEnds] }

// Next returns the next row. After the last row it returns an error: the caller must know the number of rows.
func (x *Reader) Next() (*Row, error) {
	if x.chunk.next == x.chunk.n {
		if err := x.read(chunkRows, false); err != nil {
			return nil, err
		}
	}
	return x.chunk.take(), nil
}

// Row returns row n, and reads no other. Next then returns row n+1. Row cannot go back to an earlier batch than that of
// the last row, unless the Reader is from [Finder.Rows]; [Reader.SkipTo] can.
func (x *Reader) Row(n int64) (*Row, error) {
	x.next = n
	if err := x.read(1, false); err != nil {
		return nil, err
	}
	return x.chunk.take(), nil
}

// read reads up to most rows from x.next on; with keysAlone the keys alone, for [chunk.key].
func (x *Reader) read(most int64, keysAlone bool) error {
	x.chunk.next, x.chunk.n = 0, 0
	if err := x.find(x.next); err != nil {
		return err
	}
	n := min(most, x.batch.end-x.next, x.end-x.next)
	if n <= 0 {
		return fmt.Errorf("%w: %w", ErrMalformed, errTooFew)
	}
	x.chunk.want(x.SourceOffs, keysAlone)
	if err := x.chunk.read(x.file, &x.batch, x.next, n); err != nil {
		return err
	}
	x.next += int64(x.chunk.n)
	return nil
}

// find sets x.batch to the batch that has row n.
func (x *Reader) find(n int64) (err error) {
	switch {
	case n >= x.batch.first && n < x.batch.end:
		return nil
	case x.messages == nil:
		i := sort.Search(len(x.batches), func(i int) bool { return x.batches[i].end > n })
		if n < 0 || i == len(x.batches) {
			return fmt.Errorf("%w: %w", ErrMalformed, errTooFew)
		}
		x.batch = x.batches[i]
		return nil
	case n < x.batch.first:
		return fmt.Errorf("internal error: row %d of an index after row %d", n, x.batch.first)
	}
	for n >= x.batch.end {
		if x.batch, err = x.chunk.layout.next(x.messages, x.batch.end); err != nil {
			x.batch = batch{}
			return err
		}
	}
	return nil
}

// A Finder reads rows at many places. It holds the places of the batches of an index, some 200 bytes each, and no file.
// It may be used concurrently.
type Finder struct {
	layout  *layout
	batches []batch
}

// OpenFinder reads the places of the batches of an index with size bytes and a number of rows. It reads no rows.
func OpenFinder(r io.ReaderAt, size, rows int64) (*Finder, error) {
	m, l, err := open(r, size)
	if err != nil {
		return nil, err
	}
	f := &Finder{layout: l}
	for n := int64(0); n < rows; {
		b, err := l.next(m, n)
		if err != nil {
			return nil, err
		}
		f.batches = append(f.batches, b)
		n = b.end
	}
	return f, nil
}

// Rows returns a reader of count rows from row first on. r must be the file that was passed to Find.
func (f *Finder) Rows(r io.ReaderAt, first, count int64) *Reader {
	return &Reader{file: r, batches: f.batches, next: first, end: first + count, chunk: chunk{layout: f.layout}}
}
