// Package encode turns a sample into the bytes of one record.
//
//	spec, err := encode.Parse(encode.Options{Encoding: "msgpack", Fields: "jpg;png,cls"})
//	enc := spec.NewEncoder()
//	rec, err := enc.Encode(sample) // rec.Parts, rec.Size
//
// A record consists of pieces, so that payloads are not copied. Encoding the shape of a sample,
// which has the sizes of payloads but not the bytes, gives the exact size of the record. A plan
// computes the exact size of every shard this way.
//
// The encodings:
//
//	msgpack    {"__key__": key, field: value, …}; bytes as bin, text as str, floats 64 bits wide
//	cbor       the same map; definite lengths, shortest heads, floats 64 bits wide
//	pickle     the same dict, protocol 4, of str, bytes, int, float, bool, None, list, dict
//	           pickle:FIELD,FIELD is a tuple of these values, without the key
//	raw        the bytes of the sample's only field; of FIELD with raw:FIELD
//	arrow      an Arrow IPC stream of one record batch: __key__ and one column per field; lists, structs and maps
//
// The record of a sample without a key has no __key__. The bytes of a record depend only on the
// sample and the options. Nested maps keep the order of their source.
package encode

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
)

// ErrMissing reports that a sample lacks a field that Options require.
var ErrMissing = errors.New("field missing")

// ErrSkip reports that a sample lacks a required field and that Options.Missing leaves it out.
var ErrSkip = errors.New("sample left out: field missing")

// A Form appends the record of a sample to b. Where the sample has sizes in place of payload it appends what gives the same
// size.
type Form = func(b *Builder, s *converters.Sample) error

// encodings is the table of encodings. Each [Encoder] opens a Form of its own.
var encodings = []struct {
	name, help string
	open       func() Form
	chosen     func() Form // of records of the fields that the encoding names; nil: it names none
}{
	{"msgpack", "a map of __key__ and the fields, in MessagePack", msgpackForm.open, nil},
	{"cbor", "the same map, in CBOR", cborForm.open, nil},
	{"raw", "the bytes of the only field, or of one with raw:FIELD, and nothing else", openRaw, openRaw},
	{"pickle", "the same map as a Python dict, for pickle.loads; a tuple of some fields with pickle:FIELD,FIELD", pickleForm.open, openTuple},
	{"arrow", "an Arrow IPC stream with a column a field", openArrow, nil},
}

// Names returns the encodings, each as "name: help" with one line of help.
func Names() []string {
	var names []string
	for _, f := range encodings {
		names = append(names, f.name+": "+f.help)
	}
	return names
}

// A Spec is a valid set of options. It may be used concurrently.
type Spec struct {
	opts   Options
	fields selector
	open   func() Form
	copies bool // the record of a sample of one field is the bytes of that field
}

// Parse checks the options. The error is [*decode.UnknownError] if the encoding does not exist.
func Parse(opts Options) (*Spec, error) {
	opts.Encoding = cmp.Or(opts.Encoding, "msgpack")
	opts.Missing = cmp.Or(opts.Missing, MissingError)
	if opts.Missing != MissingError && opts.Missing != MissingSkip {
		return nil, fmt.Errorf("missing %q: want %s or %s", opts.Missing, MissingError, MissingSkip)
	}
	switch opts.Damaged {
	case DamagedKeep:
		opts.Damaged = ""
	case "", DamagedSkip, DamagedError:
	default:
		return nil, fmt.Errorf("damaged %q: want %s, %s or %s", opts.Damaged, DamagedKeep, DamagedSkip, DamagedError)
	}
	var err error
	if opts.Limits, err = opts.Limits.Check(); err != nil {
		return nil, err
	}
	if _, err = newTensors(&opts); err != nil {
		return nil, err
	}
	fields, err := parseSelector(opts)
	if err != nil {
		return nil, err
	}
	name, only, err := decode.Parse(opts.Encoding)
	if err != nil {
		return nil, err
	}
	if opts.Encoded {
		return &Spec{opts, fields, openEncoded, true}, opts.checkEncoded()
	}
	for _, f := range encodings {
		switch {
		case f.name != name:
		case only == nil:
			return &Spec{opts, fields, f.open, name == "raw" && fields.all() && !opts.Decode && opts.Tensor == ""}, nil
		default:
			fields.only = only
			return &Spec{opts, fields, f.chosen, false}, nil
		}
	}
	return nil, fmt.Errorf("internal error: no format %q", name)
}

// checkEncoded refuses options that would change records.
func (o *Options) checkEncoded() error {
	if o.Rewrites() {
		return errors.New("records that are encoded already keep all their fields, with their names and values")
	}
	return nil
}

// WithForm returns a Spec for records in a form that is no encoding, such as the members of a tar. Each Encoder opens one. It
// gets samples with the fields that the Options select.
func (s *Spec) WithForm(open func() Form) *Spec { return &Spec{s.opts, s.fields, open, false} }

// Options returns the options with defaults filled in. Limits that equal their default are 0.
func (s *Spec) Options() Options {
	o := s.opts
	o.Rename = slices.Clone(o.Rename)
	return o
}
