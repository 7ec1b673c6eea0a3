package tfrecord

import (
	"cmp"
	"math"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// recordField is the name of the field that holds a whole record.
const recordField = "record"

// DefaultMaxSample is the default of Options.MaxSample, in bytes.
const DefaultMaxSample = 1 << 30

// elementSize is the approximate memory of a field or of a value in a list, in bytes.
const elementSize = 64

// A valueKind is the type of the values of a list.
type valueKind uint8

// The kinds of values.
const (
	kindBytes valueKind = iota
	kindFloat32
	kindFloat64
	kindInt32
	kindInt64
)

func (k valueKind) String() string {
	return [...]string{"bytes", "float32", "float64", "int32", "int64"}[k]
}

// A form is what one format has of its own.
type form struct {
	Head    int                                    // bytes before the data
	Trailer int                                    // bytes after the data
	Length  func(head []byte) (uint64, error)      // of the data; an error refuses the head
	Check   func(data, trailer []byte) (err error) // nil: nothing is to be compared
	Kinds   []valueKind                            // the kind of the list with number i+1 of a feature
	Flat    bool                                   // the data is the map itself
	Splits  bool                                   // writers may cut a record between two parts: see Options.Continued
}

// Options define a sample. The zero value makes a field of each feature.
type Options struct {
	// Whole makes each record a sample with one field, recordField: its data, unchanged, whatever it is.
	Whole bool

	// Lists names the features that are lists in every sample; all others are one value, and a record in which
	// such a feature has another number of values is refused. nil: a feature is one value if it has one in
	// each of the first 1,000 records of the first part with records that has it, else a list.
	Lists []string

	// AllLists makes lists of all features.
	AllLists bool

	// Continued means that the parts are one stream: a record may continue in the next parts. It belongs to the part in
	// which it begins. The source is not Divisible then, since all parts before one say where its first record is.
	Continued bool

	// MaxSample limits the data of a record in bytes, because Read holds it in memory. It also limits the
	// memory of fields and values, at 64 bytes each; 4 MiB of these are always allowed.
	// 0: DefaultMaxSample.
	MaxSample int64

	// Load reports whether Index must read the bytes of a field. nil: no field.
	Load func(field string) bool
}

// A source is an opened list of parts. It holds no file open between calls.
type source struct {
	*scan.Source
	form   *form
	opts   Options
	rule   *rule
	open   scan.Opener
	starts []func() (int64, error) // by part: see start; nil unless Options.Continued
}

// openParts opens parts of a form. open opens a part, like converters.Files.Open.
func openParts(form *form, parts []converters.Part, opts Options, open scan.Opener) (converters.Source, error) {
	s, err := openForm(form, parts, opts, open)
	if err != nil {
		return nil, err
	}
	if opts.Continued {
		return struct { // without WithParts
			converters.Source
			converters.Describer
		}{s, s}, nil
	}
	return s, nil
}

func openForm(form *form, parts []converters.Part, opts Options, open scan.Opener) (*source, error) {
	opts.MaxSample = min(cmp.Or(max(opts.MaxSample, 0), DefaultMaxSample), math.MaxInt/4) // a buffer is up to a quarter larger
	if opts.Load == nil {
		opts.Load = func(string) bool { return false }
	}
	s := (source{form: form, opts: opts, rule: &rule{}, open: open}).with(parts)
	if opts.Continued {
		s.chain()
	}
	if opts.Whole {
		return s, nil
	}
	return s, s.survey()
}

func (s source) with(parts []converters.Part) *source {
	s.Source = scan.New(parts, scan.Format{
		Open: s.open, Unit: "record", Reader: func() scan.Reader { return s.scanner() },
		With:     func(_ int, parts []converters.Part) converters.Source { return s.with(parts) }, // the same features are lists
		Describe: s.describe,
	})
	return &s
}

// describe returns the features of the first records. A whole record is its own encoding, raw.
func (s *source) describe() converters.Description {
	if s.opts.Whole {
		return converters.Description{Encoding: "raw"}
	}
	return converters.Description{Columns: s.rule.columns}
}
