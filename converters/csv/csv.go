// package csv finds and reads the rows of CSV parts. A Naming finds parts by the names that OneFlow's
// OFRecord loader gives them.
//
//	src, err := csv.Open(parts, csv.Options{Header: true, Columns: []string{"x", "y"}})
//	for span, err := range src.Index(ctx, 0) { … }                                  // a row: 16 bytes of numbers
//	for sample, err := range src.Read(ctx, converters.Run{Off: off, Count: n}) { … } // the numbers
//
// A row is one record of RFC 4180. The package is stricter than most readers:
//
//	┌──────┬────────┬───────┬────────┬─────┬──────────────────┐
//	│ BOM  │ value  │ , (1) │ value  │ … , │ \n (1), \r\n (2) │
//	│ 0, 3 │        │       │        │     │ or end of file   │
//	└──────┴────────┴───────┴────────┴─────┴──────────────────┘
//
//	value   bytes without delimiter, quote, CR, LF and NUL; or, between quotes, any bytes
//	        except NUL, with each quote doubled
//	row     all rows have the same number of columns; an empty line is skipped and counted
//
// A number is what C's strtod accepts: decimal, hexadecimal with 0x, inf, infinity, nan and nan(…), in
// upper or lower case, with or without a sign. Blanks around it are ignored, as Python's float() does.
// Its value is the nearest float64, or the float32 nearest to the digits; of two equally near ones the
// even one. A number that is too large is refused, one that is too small becomes zero. In numeric rows
// a NaN keeps its sign and is otherwise the same; in typed rows all NaN are the same. An int64 is
// decimal digits with or without a sign; it is refused if it is out of range. A number may be quoted.
//
// In typed rows an empty value without quotes is null and "" is empty text. true and false, in any
// case, are bool. All other text must be UTF-8.
package csv

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// Default limits of Options in bytes.
const (
	DefaultMaxRow    = 64 << 20
	DefaultMaxSample = 1 << 30
)

// DefaultMaxColumns is the default of Options.MaxColumns.
const DefaultMaxColumns = 1 << 16

// Upper bounds of Options.
const (
	MostRow     = 1 << 30 // bytes
	maxBuffer   = 1 << 40 // bytes of a sample: sums of sizes cannot overflow
	MostColumns = 1 << 24 // their cells take 400 MiB of memory
)

// A Form determines the fields of a sample.
type Form int

// The forms of a sample.
const (
	Auto   Form = iota // Packed if all columns are numbers of one type, else Fields
	Packed             // one field, "row" or "rows": little-endian numbers [columns] or [rows, columns]
	Fields             // a field for each column with the value of the row; Table if samples have several rows
	Table              // a field for each column with a [converters.Column]
)

// Options describe the parts. The zero value means rows without header, with typed columns if not all
// values of the first rows are numbers.
type Options struct {
	// Header means that the first line of every part names the columns. It must be the same in
	// all parts.
	Header bool

	// FindHeader sets Header if the first row of the first part looks like names, for example distinct words above a
	// column of numbers. A row that may be names or values is an error. Ignored if Columns is set.
	FindHeader bool

	// Delimiter separates values. 0: a comma.
	Delimiter byte

	// Columns selects columns of the header by name, in this order. Without a header it names
	// all columns. nil: all columns, named c0, c1 and so on without a header.
	Columns []string

	// DType is float64, float32 or int64, the type of all columns; or types of single columns, as
	// in "id=int64,name=str,ok=bool", which makes the rows typed.
	//
	// "": types are inferred from the rows that end within the first MiB of the first part that has rows. If all values
	// are numbers the type is float64. This rounds integers beyond 2⁵³, which Index counts and Doubts reports.
	// Otherwise the type of a column is the first of int64, float64, bool and str that fits all its values; a column of
	// integers is str if some are beyond int64.
	DType string

	// RowsPerSample is the number of consecutive rows of a part that make a sample. The last
	// sample of a part may have fewer. 0: 1.
	RowsPerSample int64

	// Form determines the fields of a sample.
	Form Form

	// MaxRow limits the size of a row with its line end in bytes, because Read and Index hold a
	// row in memory. 0: DefaultMaxRow. At most 1 GiB, because text columns of Arrow have offsets
	// of 31 bits.
	MaxRow int64

	// MaxColumns limits the columns of a row, because a column takes 24 bytes of memory even if
	// the row has only its delimiter. 0: DefaultMaxColumns. At most 16,777,216.
	MaxColumns int

	// MaxSample limits the memory of a sample in bytes: 4 or 8 for a number if it is packed, else
	// 24 for a value plus its text. 0: DefaultMaxSample.
	MaxSample int64
}

// A source is an opened list of CSV parts. It holds no file open between calls.
type source struct {
	*scan.Source
	opts    Options
	schema  schema
	look    look
	found   bool      // FindHeader has set Header
	missed  bool      // FindHeader has found words that are not a header
	rounded *rounding // shared with the sources of WithParts
	open    scan.Opener
}

// Open returns a [converters.Source] with these parts, which is a Describer of the columns, a Divisible and a
// RowSource, too. It reads the header and the first rows of the first part that has rows, to determine columns and
// types. Index and Read check that size and time of the file have not changed.
func Open(parts []converters.Part, opts Options) (*source, error) {
	return openSource(parts, opts, new(converters.Files).Open)
}

func openSource(parts []converters.Part, opts Options, open scan.Opener) (*source, error) {
	opts.Delimiter = cmp.Or(opts.Delimiter, ',')
	opts.RowsPerSample = max(opts.RowsPerSample, 1)
	opts.MaxRow = cmp.Or(max(0, opts.MaxRow), DefaultMaxRow)
	opts.MaxSample = cmp.Or(max(0, opts.MaxSample), DefaultMaxSample)
	opts.MaxColumns = cmp.Or(max(0, opts.MaxColumns), DefaultMaxColumns)
	opts.MaxColumns = min(opts.MaxColumns, MostColumns)
	opts.MaxRow, opts.MaxSample = min(opts.MaxRow, MostRow), min(opts.MaxSample, maxBuffer)
	if !mayDelimit(opts.Delimiter) {
		return nil, fmt.Errorf("delimiter %q: it may not be a letter, a digit or any of + - . and the quote, nor end a line", opts.Delimiter)
	}
	if opts.Form < Auto || opts.Form > Table {
		return nil, fmt.Errorf("form %d is not known", opts.Form)
	}
	find := opts.FindHeader && !opts.Header && opts.Columns == nil
	s := (source{opts: opts, open: open, rounded: &rounding{}}).with(parts)
	err := s.inspect()
	if find && (err == nil || s.look.isHeader()) {
		var failed error
		if opts.Header, failed = s.findHeader(); failed != nil {
			return nil, failed
		}
		s.missed = s.look.rows > 0 && !slices.ContainsFunc(s.look.values, isNumberText)
	}
	if find && opts.Header {
		s = (source{opts: opts, found: true, open: open, rounded: &rounding{}}).with(parts)
		err = s.inspect()
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s source) with(parts []converters.Part) *source {
	s.Source = scan.New(parts, scan.Format{
		Open: s.open, Unit: "sample", Reader: func() scan.Reader { return s.reader() },
		With: func(_ int, parts []converters.Part) converters.Source {
			some := s.with(parts)
			some.look = look{} // it concerns the whole source
			return some
		},
		Describe: s.describe,
		Doubts:   s.doubts,
		Rows:     s.rows,
	})
	return &s
}

// mayDelimit reports whether c is a tab or printable ASCII that cannot be part of a number or be a quote.
func mayDelimit(c byte) bool {
	switch {
	case c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'z', c >= 0x7F:
		return false
	case c == '+', c == '-', c == '.', c == '"':
		return false
	}
	return c >= ' ' || c == '\t'
}

// describe returns the columns with their types, and the shape of a packed sample.
func (s *source) describe() converters.Description {
	d := converters.Description{Encoding: "msgpack", HeaderFound: s.found, HeaderMissed: s.missed}
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
