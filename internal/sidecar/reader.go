// Package sidecar reads the Arrow index that lies beside a shard, a row a sample.
//
// An index has up to three kinds of columns: key; label; and the places of the samples (ordinal, offset, length,
// crc32, source, source_offset), which the header of the shard has as well. Where all records are alike a rule in
// the metadata of the schema takes the place of the last: docs/reading.md.
package sidecar

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/ffconvert/ffconvert/internal/arrowipc"
	"github.com/ffconvert/ffconvert/internal/place"
)

// ErrMalformed reports a file that is not the index of a shard.
var ErrMalformed = place.New(place.Corrupt, "not the index of a shard")

// magic begins an Arrow file, padded to 8 bytes; the messages of a stream follow.
const magic = "ARROW1\x00\x00"

// A Reader reads the rows of an index in order, from any of them on. It holds one batch of rows. It must not
// be used concurrently.
type Reader struct {
	messages *arrowipc.Messages
	batches  *ipc.Reader
	columns  columns // of the current batch
	rows     int64   // in it
	next     int64   // row of it that Next returns
	before   int64   // rows of the batches before it
	at       int64   // where the message of the current batch begins
	row      Row
}

// A Row is what an index says of a sample. It is valid until the next one.
type Row struct {
	Key     string // "" if the dataset has no keys
	Label   int64
	Labeled bool // the sample has a class, Label
	Placed  bool // the index has the columns of places, so that the three are set

	Off, Size int64 // of the record in the shard, in bytes
	CRC       uint32
	Source    int32 // row of "sources" in the manifest; -1 if the index does not say
}

// columns are the arrays of a batch; nil if the index does not have them.
type columns struct {
	key            *array.String
	label          *array.Int64
	offset, length *array.Int64
	crc            *array.Uint32
	source         *array.Int32
}

// Open begins to read an index of size bytes.
func Open(r io.ReaderAt, size int64) (*Reader, error) {
	head := make([]byte, len(magic))
	if _, err := r.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if string(head) != magic {
		return nil, fmt.Errorf("%w: it is not an Arrow file", ErrMalformed)
	}
	x := &Reader{messages: arrowipc.NewMessages(r, int64(len(magic)), size)}
	var err error
	if x.batches, err = ipc.NewReaderFromMessageReader(x.messages); err != nil {
		return nil, x.failed(err)
	}
	return x, nil
}

// failed returns the error of the file, which Arrow's reader hides, or else err.
func (x *Reader) failed(err error) error {
	if cause := x.messages.Err(); cause != nil && !errors.Is(cause, arrowipc.ErrMalformed) && !errors.Is(cause, io.EOF) {
		return cause
	}
	return fmt.Errorf("%w: %w", ErrMalformed, err)
}

// Close frees the current batch.
func (x *Reader) Close() { x.batches.Release() }

// SkipTo makes Next return row n. It reads the sizes of the batches before it, and none of their rows. A row of
// a batch before the current one cannot be read again.
func (x *Reader) SkipTo(n int64) error {
	for n >= x.before+x.rows {
		x.before, x.rows = x.before+x.rows, 0
		at := x.messages.Offset()
		rows, err := x.messages.Rows()
		if err != nil {
			return x.ended(err)
		}
		if n < x.before+rows {
			x.messages.SeekTo(at)
			if err := x.batch(); err != nil {
				return err
			}
			break
		}
		x.before += rows
	}
	if n < x.before {
		return fmt.Errorf("internal error: row %d of an index after row %d", n, x.before)
	}
	x.next = n - x.before
	return nil
}

// Keyed reports whether the index has keys.
func (x *Reader) Keyed() bool { return x.batches.Schema().HasField("key") }

// Batch returns where in the file the batch of the last row begins, and the number of its first row.
func (x *Reader) Batch() (off, first int64) { return x.at, x.before }

// SeekBatch makes Next return the first row of the batch that begins at off, which is row number first. Both are
// from [Reader.Batch] of another reader of the same file.
func (x *Reader) SeekBatch(off, first int64) {
	x.messages.SeekTo(off)
	x.before, x.rows, x.next = first, 0, 0
}

func (x *Reader) ended(err error) error {
	if errors.Is(err, io.EOF) {
		err = errors.New("it has too few rows")
	}
	return x.failed(err)
}

// Next returns the next row. After the last it returns an error: the caller knows how many there are.
func (x *Reader) Next() (row *Row, err error) {
	defer func() {
		if recover() != nil { // Arrow's accessors panic where a buffer is too short for its column
			err = fmt.Errorf("%w: a buffer is too short", ErrMalformed)
		}
	}()
	for x.next == x.rows {
		x.before += x.rows
		if err := x.batch(); err != nil {
			return nil, err
		}
	}
	i := int(x.next)
	x.next++
	c, r := &x.columns, &x.row
	*r = Row{Placed: c.offset != nil, Source: -1}
	if c.key != nil {
		r.Key = c.key.Value(i)
	}
	if c.label != nil && c.label.IsValid(i) {
		r.Label, r.Labeled = c.label.Value(i), true
	}
	if r.Placed {
		r.Off, r.Size, r.CRC = c.offset.Value(i), c.length.Value(i), c.crc.Value(i)
	}
	if c.source != nil {
		r.Source = c.source.Value(i)
	}
	return r, nil
}

// batch reads the next batch.
func (x *Reader) batch() error {
	x.at = x.messages.Offset()
	if !x.batches.Next() {
		err := x.batches.Err()
		if err == nil {
			err = io.EOF
		}
		return x.ended(err)
	}
	batch := x.batches.Record()
	x.rows, x.next = batch.NumRows(), 0
	x.columns = columns{}
	for i, f := range batch.Schema().Fields() {
		if err := x.columns.set(f, batch.Column(i)); err != nil {
			return err
		}
	}
	if c := &x.columns; (c.offset == nil) != (c.length == nil) || (c.offset == nil) != (c.crc == nil) {
		return fmt.Errorf("%w: of the columns offset, length and crc32 some are missing", ErrMalformed)
	}
	return nil
}

// set takes the column of a name. Columns of other names are for other readers.
func (c *columns) set(f arrow.Field, column arrow.Array) error {
	ok := true
	switch f.Name {
	case "key":
		c.key, ok = column.(*array.String)
	case "label":
		c.label, ok = column.(*array.Int64)
	case "offset":
		c.offset, ok = column.(*array.Int64)
	case "length":
		c.length, ok = column.(*array.Int64)
	case "crc32":
		c.crc, ok = column.(*array.Uint32)
	case "source":
		c.source, ok = column.(*array.Int32)
	}
	if !ok {
		return fmt.Errorf("%w: the column %q has the type %s", ErrMalformed, f.Name, column.DataType())
	}
	return nil
}
