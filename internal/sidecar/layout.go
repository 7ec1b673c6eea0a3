package sidecar

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/endian"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/ffconvert/ffconvert/internal/arrowipc"
)

// magic begins an Arrow file, padded to 8 bytes; the messages of a stream follow.
const magic = "ARROW1\x00\x00"

// Buffers of a batch that are read.
const (
	keyEnds = iota // where each key begins and the last one ends in keyText, int32
	keyText
	labeled // a bit a row; empty: all rows have labels
	label
	offset
	length
	crc
	source
	sourceOff
	ordinal // to find a row; [Row] does not have it
	buffers // how many there are
)

// known has the columns that are read. Columns of other names are for other readers.
var known = [...]struct {
	name  string
	kind  arrow.Type
	value int   // the buffer that has the values
	width int64 // bytes of a value, or of the end of a text
}{
	{"key", arrow.STRING, keyEnds, 4},
	{"label", arrow.INT64, label, 8},
	{"offset", arrow.INT64, offset, 8},
	{"length", arrow.INT64, length, 8},
	{"crc32", arrow.UINT32, crc, 4},
	{"source", arrow.INT32, source, 4},
	{"source_offset", arrow.INT64, sourceOff, 8},
	{"ordinal", arrow.INT64, ordinal, 8},
}

// A layout says which columns an index has.
type layout struct {
	column [len(known)]int // number in the schema; -1: it does not have the column
	has    [buffers]bool   // by the buffer that has the values
	rule   []run           // in place of the column source; nil: there is none
}

// A batch says where a batch of rows lies.
type batch struct {
	first, end int64 // rows
	at         [buffers]arrowipc.Buffer
}

// open reads the schema of an index of size bytes. Its batches follow.
func open(r io.ReaderAt, size int64) (*arrowipc.Messages, *layout, error) {
	head := make([]byte, len(magic))
	if _, err := r.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	if string(head) != magic {
		return nil, nil, fmt.Errorf("%w: it is not an Arrow file", ErrMalformed)
	}
	messages := arrowipc.NewMessages(r, int64(len(magic)), size)
	in, err := ipc.NewReaderFromMessageReader(messages, ipc.WithEnsureNativeEndian(false))
	if err != nil {
		return nil, nil, failed(messages, err)
	}
	defer in.Release()
	l, err := newLayout(in.Schema())
	return messages, l, err
}

// failed returns the error of the file, which Arrow's reader hides, or else err.
func failed(m *arrowipc.Messages, err error) error {
	if cause := m.Err(); cause != nil && !errors.Is(cause, arrowipc.ErrMalformed) && !errors.Is(cause, io.EOF) {
		return cause
	}
	return fmt.Errorf("%w: %w", ErrMalformed, err)
}

func newLayout(s *arrow.Schema) (*layout, error) {
	l := new(layout)
	if s.Endianness() != endian.LittleEndian {
		return nil, fmt.Errorf("%w: its numbers are big-endian", ErrMalformed)
	}
	for i, k := range known {
		l.column[i] = -1
		at := s.FieldIndices(k.name)
		if len(at) == 0 {
			continue
		}
		if f := s.Field(at[0]); len(at) > 1 || f.Type.ID() != k.kind {
			return nil, fmt.Errorf("%w: %d columns %q, of the type %s", ErrMalformed, len(at), k.name, f.Type)
		}
		l.column[i], l.has[k.value] = at[0], true
	}
	if l.has[offset] != l.has[length] || l.has[offset] != l.has[crc] {
		return nil, fmt.Errorf("%w: of the columns offset, length and crc32 some are missing", ErrMalformed)
	}
	var err error
	l.rule, err = ruleOf(s.Metadata())
	return l, err
}

// next skips the next batch and returns where it is. first is the number of its first row.
func (l *layout) next(m *arrowipc.Messages, first int64) (b batch, err error) {
	said, err := m.Batch()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = errTooFew
		}
		return b, failed(m, err)
	}
	b.first, b.end = first, first+said.Rows
	if said.Rows == 0 { // nor does a message of another kind have columns
		return b, nil
	}
	for i, k := range known {
		if l.column[i] < 0 {
			continue
		}
		c := said.Columns[l.column[i]]
		rows := said.Rows
		switch k.value {
		case keyEnds:
			b.at[keyText] = c.Buffers[2]
			rows++
		case label:
			if c.Nulls > 0 {
				b.at[labeled] = c.Buffers[0]
				if c.Buffers[0].Size < (rows+7)/8 {
					return b, errShort
				}
			}
		}
		if b.at[k.value] = c.Buffers[1]; c.Buffers[1].Size/k.width < rows {
			return b, errShort
		}
	}
	return b, nil
}

var (
	errTooFew = errors.New("it has too few rows")
	errShort  = fmt.Errorf("%w: a buffer is too short", ErrMalformed)
)
