package sidecar

import (
	"errors"
	"fmt"
	"io"

	"github.com/ffconvert/ffconvert/converters"
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
	dtype string
	value int   // the buffer that has the values
	width int64 // bytes of a value, or of the end of a text
}{
	{"key", "str", keyEnds, 4},
	{"label", "int64", label, 8},
	{"offset", "int64", offset, 8},
	{"length", "int64", length, 8},
	{"crc32", "uint32", crc, 4},
	{"source", "int32", source, 4},
	{"source_offset", "int64", sourceOff, 8},
	{"ordinal", "int64", ordinal, 8},
}

// A layout says which columns an index has.
type layout struct {
	column [len(known)]int // index in the schema; -1: the index file lacks the column
	has    [buffers]bool   // by the buffer that has the values
	rule   []run           // in place of the column source; nil: there is none
}

// A batch is the place of a batch of rows in the file.
type batch struct {
	first, end int64 // rows
	at         [buffers]arrowipc.Span
}

// open reads the schema of an index of size bytes. Its batches follow.
func open(r io.ReaderAt, size int64) (*arrowipc.Stream, *layout, error) {
	head := make([]byte, len(magic))
	if _, err := r.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	if string(head) != magic {
		return nil, nil, fmt.Errorf("%w: it is not an Arrow file", ErrMalformed)
	}
	stream, err := arrowipc.Open(r, int64(len(magic)), size)
	if err != nil {
		return nil, nil, failed(err)
	}
	l, err := newLayout(stream.Schema)
	return stream, l, err
}

// failed wraps an error about the content of the file with [ErrMalformed]. It returns an error of reading unchanged.
func failed(err error) error {
	for _, kind := range []error{converters.ErrMalformed, converters.ErrTruncated, converters.ErrUnsupported, converters.ErrDuplicate, converters.ErrLimit, errTooFew} {
		if errors.Is(err, kind) {
			return fmt.Errorf("%w: %w", ErrMalformed, err)
		}
	}
	return err
}

func newLayout(s *arrowipc.Schema) (*layout, error) {
	l := new(layout)
	for i, k := range known {
		l.column[i] = -1
		n := 0
		for at, f := range s.Fields {
			if f.Name != k.name {
				continue
			}
			if n++; n > 1 || f.DType != k.dtype || f.Values != nil || f.Wide || f.Shape != arrowipc.ShapeFixed && f.Shape != arrowipc.ShapeBytes {
				return nil, fmt.Errorf("%w: %d columns %q, of the type %s", ErrMalformed, n, k.name, f.DType)
			}
			l.column[i], l.has[k.value] = at, true
		}
	}
	if l.has[offset] != l.has[length] || l.has[offset] != l.has[crc] {
		return nil, fmt.Errorf("%w: of the columns offset, length and crc32 some are missing", ErrMalformed)
	}
	var err error
	l.rule, err = ruleOf(s.Metadata[ruleKey])
	return l, err
}

// next skips the next batch and returns where it is. first is the number of its first row.
func (l *layout) next(m *arrowipc.Stream, first int64) (b batch, err error) {
	found, err := m.Next()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = errTooFew
		}
		return b, failed(err)
	}
	b.first, b.end = first, first+found.Rows
	if found.Codec != "" {
		return b, fmt.Errorf("%w: its buffers are compressed", ErrMalformed)
	}
	if found.Rows == 0 {
		return b, nil
	}
	for i, k := range known {
		if l.column[i] < 0 {
			continue
		}
		c := found.Columns[l.column[i]]
		rows := found.Rows
		switch k.value {
		case keyEnds:
			b.at[keyText] = c.More[0]
			rows++
		case label:
			if c.Nulls > 0 {
				b.at[labeled] = c.Valid
				if c.Valid.Size < (rows+7)/8 {
					return b, errShort
				}
			}
		}
		if b.at[k.value] = c.Data; c.Data.Size/k.width < rows {
			return b, errShort
		}
	}
	return b, nil
}

var (
	errTooFew = errors.New("it has too few rows")
	errShort  = fmt.Errorf("%w: a buffer is too short", ErrMalformed)
)
