// Package features reads files of records that are protocol buffers with named features: TFRecord and
// OFRecord, which differ in their [Form].
//
//	src, err := features.Open(form, parts, features.Options{})
//	for span, err := range src.Index(ctx, 0) { … } // large values are not read
//
// A part is records one behind the other: a head with the length of the data, the data, a trailer. The data is a
// message with a map of features (field numbers, protobuf's wire format):
//
//	data          Example or SequenceExample        Form.Flat: the record
//	              1 features · 2 feature lists      1 an entry of the map, repeated
//	features      1 an entry of the map, repeated
//	entry         1 the name · 2 the feature; of feature lists, 2 has features, each under 1
//	feature       one list, whose number tells the kind of its values: Form.Kinds
//	list          1 a value, repeated, or many packed into one
//
// A feature that has one value in each sample is that value, another feature is a list: see [Options]. The fields
// of a sample are in the order of their names, because a map has none.
package features

import (
	"cmp"
	"math"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// RecordField is the name of the field that holds a whole record.
const RecordField = "record"

// DefaultMaxSample is the default of Options.MaxSample, in bytes.
const DefaultMaxSample = 1 << 30

// elementSize is the approximate memory of a field or of a value in a list, in bytes.
const elementSize = 64

// A Kind is the type of the values of a list.
type Kind uint8

// The kinds of values.
const (
	Bytes Kind = iota
	Float32
	Float64
	Int32
	Int64
)

func (k Kind) String() string {
	return [...]string{"bytes", "float32", "float64", "int32", "int64"}[k]
}

// A Form is what one format has of its own.
type Form struct {
	Head    int                                    // bytes before the data
	Trailer int                                    // bytes after the data
	Length  func(head []byte) (uint64, error)      // of the data; an error refuses the head
	Check   func(data, trailer []byte) (err error) // nil: nothing is to be compared
	Kinds   []Kind                                 // the kind of the list with number i+1 of a feature
	Flat    bool                                   // the data is the map itself
	Splits  bool                                   // writers may cut a record between two parts: see Options.Continued
}

// Options define a sample. The zero value makes a field of each feature.
type Options struct {
	// Whole makes each record a sample with one field, RecordField: its data, unchanged, whatever it is.
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

// A Source is an opened list of parts. It holds no file open between calls.
type Source struct {
	*scan.Source
	form   *Form
	opts   Options
	rule   *rule
	open   scan.Opener
	starts []func() (int64, error) // by part: see start; nil unless Options.Continued
}

var (
	_ converters.Source    = (*Source)(nil)
	_ converters.Describer = (*Source)(nil)
	_ converters.Divisible = (*Source)(nil)
)

// Open returns a source with these parts. It reads the first records of the first part that has some, to find
// out which features are lists. open opens a part, like converters.Files.Open.
func Open(form *Form, parts []converters.Part, opts Options, open scan.Opener) (*Source, error) {
	opts.MaxSample = min(cmp.Or(max(opts.MaxSample, 0), DefaultMaxSample), math.MaxInt/4) // a buffer is up to a quarter larger
	if opts.Load == nil {
		opts.Load = func(string) bool { return false }
	}
	s := (Source{form: form, opts: opts, rule: &rule{}, open: open}).with(parts)
	if opts.Continued {
		s.chain()
	}
	if opts.Whole {
		return s, nil
	}
	if err := s.survey(); err != nil {
		return nil, err
	}
	return s, nil
}

// WithParts returns a source with other parts, in which the same features are lists.
func (s *Source) WithParts(_ int, parts []converters.Part) converters.Source { return s.with(parts) }

func (s Source) with(parts []converters.Part) *Source {
	s.Source = scan.New(parts, s.open, "record", func() scan.Reader { return s.scanner() })
	return &s
}

// Describe returns the features of the first records. A whole record is its own encoding, raw.
func (s *Source) Describe() converters.Description {
	if s.opts.Whole {
		return converters.Description{Encoding: "raw"}
	}
	return converters.Description{Columns: s.rule.columns}
}
