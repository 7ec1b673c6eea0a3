// package jsonl finds and reads the objects of JSON Lines files (https://jsonlines.org), and the files that a
// metadata.jsonl names.
//
//	src := jsonl.Open(parts, jsonl.Options{})
//	for span, err := range src.Index(ctx, 0) { … }                                  // a line: text=31 bytes, score=0.5
//	for sample, err := range src.Read(ctx, converters.Run{Off: off, Count: n}) { … } // the same, with its bytes
//
// A part is lines of UTF-8. Each line is one JSON object (RFC 8259), which is a sample:
//
//	┌──────┬─────────────────────────────────────────┬──────────────────┐
//	│ BOM  │ {"name": value, "name": value, …}       │ \n (1), \r\n (2) │
//	│ 0, 3 │ with blanks around it or not            │ or end of file   │
//	└──────┴─────────────────────────────────────────┴──────────────────┘
//
//	member       a field, in the order of the line; "__key__" is the key of the sample
//	value        text, integer, float64, or a nested value: true, false, null, list, object;
//	             {"$bytes": "…"}, base64, is bytes, as ffconvert export jsonl writes them
//	empty line   only blanks: skipped and counted
//	mark         {"__begin__": {}} or {"__end__": {…}}: not a sample; states that the lines are complete
//
// A number without a point and an exponent is an integer from −2⁶³ to 2⁶⁴−1; any other number is the nearest float64.
// Other integers are refused, as are repeated names in an object, bytes that are not UTF-8, and halves of surrogate
// pairs. The format has no checksum: a changed byte is found only if a line becomes malformed.
//
// A "$bytes" object that is not base64 stays an object. A line has no opaque payload, so Index decodes all of it. Two
// samples may have the same key.
//
// [OpenFiles] reads a metadata.jsonl with the files that it names.
package jsonl

import (
	"cmp"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/jsonvalue"
)

// Defaults of Options.
const (
	DefaultMaxLine   = 64 << 20 // bytes
	DefaultMaxDepth  = 32
	DefaultMaxSample = 1 << 30 // bytes
)

// Upper bounds of Options.
const (
	MostLine   = 1 << 30 // bytes
	MostDepth  = 9_999   // the object of a line adds one level
	mostSample = 1 << 40 // bytes: sums of sizes cannot overflow
)

// valueSize is the number of bytes of Options.MaxLine per allowed value. A value takes some 64 bytes of memory, so the
// values of a line take at most four times MaxLine, in addition to its text.
const valueSize = 16

// Options limit the lines and name the key. The zero value has the default limits.
type Options struct {
	// KeyField is the member with the key, a text or an integer. It stays a field; every object must have it. "": the
	// member "__key__", a text that does not become a field; it may be missing.
	KeyField string

	// MaxLine limits the size of a line with its end in bytes, because Index and Read hold a line in memory. A
	// sixteenth of it limits the number of values in a line. 0: DefaultMaxLine. At most MostLine.
	MaxLine int64

	// MaxDepth is the deepest nesting of lists and objects in a field. 0: DefaultMaxDepth. At most MostDepth.
	MaxDepth int

	// MaxSample limits the size of the files of a sample in bytes, because Read holds them in memory. Only
	// OpenFiles has files. 0: DefaultMaxSample.
	MaxSample int64

	// RequireEnd refuses a part without an end mark: see package converters/internal/scan.
	RequireEnd bool

	// Load reports whether Index must read the bytes of a file, because the size of the record depends on them. Only
	// OpenFiles has files. nil: no field.
	Load func(field string) bool
}

// filled returns the options with defaults.
func (o Options) filled() Options {
	o.MaxLine = min(cmp.Or(max(o.MaxLine, 0), DefaultMaxLine), MostLine)
	o.MaxDepth = min(cmp.Or(max(o.MaxDepth, 0), DefaultMaxDepth), MostDepth)
	o.MaxSample = min(cmp.Or(max(o.MaxSample, 0), DefaultMaxSample), mostSample)
	return o
}

// decoder returns a decoder of lines.
func (o *Options) decoder() func(line []byte) (*converters.Sample, error) {
	return jsonvalue.NewObjects(o.KeyField, o.MaxDepth, int(o.MaxLine/valueSize)+1)
}

// A source is an opened list of JSON Lines files. It holds no file open between calls.
type source struct {
	*scan.Source
	opts Options
	open scan.Opener
}

// Open returns a source with these parts. It does not open files. Index and Read open them, and check that size and
// time of the file have not changed.
func Open(parts []converters.Part, opts Options) *source {
	return (source{opts: opts.filled(), open: new(converters.Files).Open}).with(parts)
}

func (s source) with(parts []converters.Part) *source {
	s.Source = scan.New(parts, scan.Format{
		Open: s.open, Unit: "sample", Reader: func() scan.Reader { return newReader(&s.opts) },
		With: func(_ int, parts []converters.Part) converters.Source { return s.with(parts) },
	})
	return &s
}
