// Package csv finds and reads the rows of CSV parts, named as OneFlow's OFRecord loader
// names them.
//
//	src, err := csv.Open(parts, csv.Options{Header: true, Columns: []string{"x", "y"}})
//	for span, err := range src.Index(ctx, 0) { … }                                  // a row: 16 bytes of numbers
//	for sample, err := range src.Read(ctx, converters.Run{Off: off, Count: n}) { … } // the numbers
//
// A row is one record of RFC 4180, read more strictly than most readers do:
//
//	┌──────┬────────┬───────┬────────┬─────┬──────────────────┐
//	│ BOM  │ value  │ , (1) │ value  │ … , │ \n (1), \r\n (2) │
//	│ 0, 3 │        │       │        │     │ or end of file   │
//	└──────┴────────┴───────┴────────┴─────┴──────────────────┘
//
//	value   bytes without delimiter, quote, CR, LF, NUL; or, between quotes, any
//	        bytes but NUL, a quote written twice
//	row     all have one number of columns; a line of no bytes is skipped and counted
//
// A number is what C's strtod takes: decimal, hexadecimal with 0x, inf, infinity, nan and
// nan(…) in any case, a sign before each. Blanks around it do not count, as in Python's
// float(). It becomes the nearest float64 (or float32, of the digits, not of the float64),
// a tie the even one; too large a number is refused, too small a one becomes zero. All NaN
// of numeric rows are quiet and without payload, with their sign; those of typed rows have
// no sign. An int64 is decimal digits with a sign, and out of its range refused. Where
// values between quotes are numbers, they count as such.
//
// In typed rows an empty value without quotes is null, and "" is empty text; true and
// false, in any case, are bool; all other text must be UTF-8.
package csv

import (
	"fmt"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
)

// Limits that Options has where it has 0, bytes.
const (
	DefaultMaxRow    = 64 << 20
	DefaultMaxSample = 1 << 30
)

// DefaultMaxColumns is what Options.MaxColumns is when it is 0.
const DefaultMaxColumns = 1 << 16

// What Options cannot say more than.
const (
	mostRow     = 1 << 30 // bytes
	maxBuffer   = 1 << 40 // bytes of a sample: keeps the arithmetic on sizes far from overflow
	mostColumns = 1 << 24 // 400 MiB of places
)

// A Form is what the fields of a sample are.
type Form int

// The forms of a sample.
const (
	Auto   Form = iota // Packed where all columns are numbers of one type, else Fields
	Packed             // one field, "row" or "rows": little-endian numbers [columns] or [rows, columns]
	Fields             // a field for each column, its value that of the row; as Table where samples have many rows
	Table              // a field for each column, its value a [converters.Column]
)

// Options say what the parts hold. The zero value is rows without header, of numbers
// or, where the first ones are not all numbers, of typed columns.
type Options struct {
	// Header says that the first line of every part names the columns. All parts must
	// have the same.
	Header bool

	// Delimiter stands between values. 0: a comma.
	Delimiter byte

	// Columns selects columns of the header by name, in this order; without header it
	// names all columns. None: all columns, without header c0, c1 and so on.
	Columns []string

	// DType is float64, float32 or int64 where all columns are numbers of this type;
	// or the types of single columns, as "id=int64,name=str" (bool too), which makes
	// typed rows. "": the first rows decide, as many as end within the first MiB of the
	// first part that has any. Where all their values are numbers, rows are float64, which
	// rounds integers beyond 2⁵³: Doubts tells how many Index has seen. Else each column has the first of int64, float64, bool and
	// str that all its values fit; integers beyond int64 alone fit str.
	DType string

	// RowsPerSample is how many rows of a part, one after another, make a sample. The
	// last one of a part may have less. 0: 1.
	RowsPerSample int64

	// Form is what the fields of a sample are.
	Form Form

	// MaxRow limits a row, bytes with its line end: Read and Index hold a row in memory.
	// 0: DefaultMaxRow. At most 1 GiB: a column of Arrow has offsets of 31 bits.
	MaxRow int64

	// MaxColumns limits the columns of a row: each has a place in memory that its bytes, a
	// delimiter, do not show. 0: DefaultMaxColumns. At most 16,777,216.
	MaxColumns int

	// MaxSample limits a sample in memory, bytes: those of its numbers where it is
	// packed, else 24 a value and those of its text. 0: DefaultMaxSample.
	MaxSample int64
}

// A Source is an opened list of CSV parts. It holds no file open between calls.
type Source struct {
	parts   []converters.Part
	opts    Options
	schema  schema
	look    look
	rounded *rounding // shared with the sources of WithParts
	open    func(converters.Part, converters.Access) (converters.File, error)
	readers sync.Pool // of *reader
}

var (
	_ converters.Source    = (*Source)(nil)
	_ converters.Describer = (*Source)(nil)
	_ converters.Divisible = (*Source)(nil)
	_ converters.Doubter   = (*Source)(nil)
)

// Open returns the source that the parts make. It reads the header and the first rows
// of the first part that has rows, to know columns and types. Index and Read check that
// each part is still the file that it describes.
func Open(parts []converters.Part, opts Options) (*Source, error) {
	return openSource(parts, opts, converters.Part.OpenFor)
}

func openSource(parts []converters.Part, opts Options, open func(converters.Part, converters.Access) (converters.File, error)) (*Source, error) {
	if opts.Delimiter == 0 {
		opts.Delimiter = ','
	}
	opts.RowsPerSample = max(opts.RowsPerSample, 1)
	if opts.MaxRow <= 0 {
		opts.MaxRow = DefaultMaxRow
	}
	if opts.MaxSample <= 0 {
		opts.MaxSample = DefaultMaxSample
	}
	if opts.MaxColumns <= 0 {
		opts.MaxColumns = DefaultMaxColumns
	}
	opts.MaxColumns = min(opts.MaxColumns, mostColumns)
	opts.MaxRow, opts.MaxSample = min(opts.MaxRow, mostRow), min(opts.MaxSample, maxBuffer)
	if !mayDelimit(opts.Delimiter) {
		return nil, fmt.Errorf("delimiter %q: it may not be a letter, a digit or any of + - . and the quote, nor end a line", opts.Delimiter)
	}
	if opts.Form < Auto || opts.Form > Table {
		return nil, fmt.Errorf("form %d is not known", opts.Form)
	}
	s := &Source{parts: parts, opts: opts, open: open, rounded: &rounding{}}
	if err := s.inspect(); err != nil {
		return nil, err
	}
	return s, nil
}

// mayDelimit refuses what a number, a quoted value or a line has in it.
func mayDelimit(c byte) bool {
	switch {
	case c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'z', c >= 0x7F:
		return false
	case c == '+', c == '-', c == '.', c == '"':
		return false
	}
	return c >= ' ' || c == '\t'
}

// Parts lists the CSV files in dataset order.
func (s *Source) Parts() []converters.Part { return s.parts }

// WithParts returns a source over other parts, with the columns and types of these.
func (s *Source) WithParts(_ int, parts []converters.Part) converters.Source {
	return &Source{parts: parts, opts: s.opts, schema: s.schema, open: s.open, rounded: s.rounded}
}

// Describe tells the columns and their types, and the shape of a packed sample.
func (s *Source) Describe() converters.Description {
	d := converters.Description{Encoding: "msgpack"}
	for _, c := range s.schema.kept {
		d.Columns = append(d.Columns, converters.ColumnType{Name: c.name, DType: c.kind.String()})
	}
	if s.schema.form == Packed {
		d.Encoding = "raw"
		d.Shape = []int64{int64(len(d.Columns))}
		if s.opts.RowsPerSample > 1 {
			d.Shape = []int64{s.opts.RowsPerSample, int64(len(d.Columns))}
		}
	}
	return d
}
