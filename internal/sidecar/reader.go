// package sidecar reads the Arrow index that lies beside a shard, a row a sample.
//
//	r, err := sidecar.Open(file, size)    // to read it from its begin on
//	r.SkipTo(n)                           // or from any row on
//	f, err := sidecar.Find(file, size, n) // to read rows at many places
//	row, err := f.Rows(file, n, 1).Next()
//
// An index has up to three kinds of columns: key; label; and the places of the samples (ordinal, offset, length,
// crc32, source, source_offset), which the header of the shard has as well. Where all records are alike a rule in
// the metadata of the schema takes the place of the last: docs/reading.md.
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
	start    int64            // of the first batch
	messages *arrowipc.Stream // of the batches after batch
	batches  []batch          // all of them, if there are no messages
	batch    batch            // the last one that was read of
	next     int64            // the row after those of chunk
	end      int64            // the row after the last one to read
	chunk    chunk

	Want want // what rows have
}

// Open begins to read an index of size bytes. The first row is next.
func Open(r io.ReaderAt, size int64) (*Reader, error) {
	m, l, err := open(r, size)
	if err != nil {
		return nil, err
	}
	return &Reader{file: r, size: size, start: m.Offset(), messages: m, end: math.MaxInt64, chunk: chunk{layout: l}}, nil
}

// Keyed reports whether the index has keys.
func (x *Reader) Keyed() bool { return x.chunk.layout.has[keyEnds] }

// Next returns the next row. After the last it returns an error: the caller knows how many there are.
func (x *Reader) Next() (*Row, error) {
	if x.chunk.next == x.chunk.n {
		if err := x.read(chunkRows); err != nil {
			return nil, err
		}
	}
	return x.chunk.take(), nil
}

// Row returns row n, and reads no other. Row n+1 is next. A row of a batch before that of the last one cannot be read
// unless the Reader is from [Finder.Rows], or after [Reader.SkipTo].
func (x *Reader) Row(n int64) (*Row, error) {
	x.next = n
	if err := x.read(1); err != nil {
		return nil, err
	}
	return x.chunk.take(), nil
}

// read reads rows from next on, up to most of them.
func (x *Reader) read(most int64) error {
	x.chunk.next, x.chunk.n = 0, 0
	if err := x.find(x.next); err != nil {
		return err
	}
	n := min(most, x.batch.end-x.next, x.end-x.next)
	if n <= 0 {
		return fmt.Errorf("%w: %w", ErrMalformed, errTooFew)
	}
	x.chunk.want(x.Want)
	if err := x.chunk.read(x.file, &x.batch, x.next, n); err != nil {
		return err
	}
	x.next += int64(x.chunk.n)
	return nil
}

// find sets batch to the one that has row n.
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

// A Finder reads rows at many places. It holds where the batches of an index lie, some 200 bytes each, and no file. It
// may be used concurrently.
type Finder struct {
	layout  *layout
	batches []batch
}

// Find reads where the batches of an index lie, and none of its rows. The index has size bytes and as many rows as rows says.
func Find(r io.ReaderAt, size, rows int64) (*Finder, error) {
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

// Rows reads count rows from row first on. r has the bytes that Find read.
func (f *Finder) Rows(r io.ReaderAt, first, count int64) *Reader {
	return &Reader{file: r, batches: f.batches, next: first, end: first + count, chunk: chunk{layout: f.layout}}
}
