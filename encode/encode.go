// Package encode turns a sample into the bytes of one record.
//
//	spec, err := encode.Parse(encode.Options{Encoding: "msgpack", Fields: "jpg;png,cls"})
//	enc := spec.NewEncoder()
//	rec, err := enc.Encode(sample) // rec.Parts, rec.Size
//
// A record is handed on in pieces, so that a payload is never copied to stand behind
// its head. Encoding the shape of a sample, its payload sized but not read, gives the
// exact size of the record: that is how a plan knows every shard to the byte.
//
// The encodings:
//
//	msgpack    {"__key__": key, field: value, …}; bytes as bin, text as str, floats 64 bits wide
//	cbor       the same map; definite lengths, shortest heads, floats 64 bits wide
//	pickle     the same dict, protocol 4, of str, bytes, int, float, bool, None, list, dict
//	raw        the bytes of the sample's only field; of FIELD with raw:FIELD
//	arrow      an Arrow IPC stream of one record batch: __key__ and a column a field
//
// A sample without a key makes a record without __key__. The bytes of a record depend on
// the sample and the options alone: nested maps keep the order of their source.
package encode

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

// ErrMissing says that a sample lacks a field that was asked for.
var ErrMissing = errors.New("field missing")

// ErrSkip says that a sample lacks a field and, by Options.Missing, is left out.
var ErrSkip = errors.New("sample left out: field missing")

// What to do with a sample that lacks a field.
const (
	MissingError = "error" // refuse the input
	MissingSkip  = "skip"  // leave the sample out, and count it
)

// Options say what a record holds and how. The zero value is every field, in
// MessagePack. They are part of a plan, hence the JSON names.
type Options struct {
	Encoding string   `json:"encoding"`          // a name of Names, "msgpack" by default; raw takes an argument, "raw:FIELD"
	Fields   string   `json:"fields,omitempty"`  // fields to keep, in order: "jpg;png,cls"; ";" = first that exists; default all
	Rename   []string `json:"rename,omitempty"`  // "image=jpg;png"; applied before Fields
	Missing  string   `json:"missing,omitempty"` // MissingError (default) or MissingSkip

	// Decode turns the bytes of the fields that are Decodable, by their names before
	// Rename, into values. Only fields that end up in the record are decoded.
	Decode bool `json:"decode,omitempty"`

	// Limits are of what is decoded. They decide no byte of a record, so no plan keeps them.
	Limits Limits `json:"-"`
}

// A format writes one sample into a record.
type format interface {
	encode(b *builder, s *converters.Sample) error
}

// formats is the table of encodings.
var formats = []struct {
	name, help string
	field      bool // it takes the name of a field as its argument
	open       func() format
}{
	{"msgpack", "a map of __key__ and the fields, in MessagePack", false, newMsgpack},
	{"cbor", "the same map, in CBOR", false, newCBOR},
	{"raw", "the bytes of the only field, or of one with raw:FIELD, and nothing else", true, newRaw},
	{"pickle", "the same map as a Python dict, for pickle.loads", false, newPickle},
	{"arrow", "an Arrow IPC stream with a column a field", false, newArrow},
}

// Names lists the encodings with a line of help each, as "name: help".
func Names() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name+": "+f.help)
	}
	return names
}

// A Spec is a checked set of options. It may be shared.
type Spec struct {
	opts   Options
	fields selector
	open   func() format
}

// Parse checks the options.
func Parse(opts Options) (*Spec, error) {
	opts.Encoding = cmp.Or(opts.Encoding, "msgpack")
	opts.Missing = cmp.Or(opts.Missing, MissingError)
	if opts.Missing != MissingError && opts.Missing != MissingSkip {
		return nil, fmt.Errorf("missing %q: want %s or %s", opts.Missing, MissingError, MissingSkip)
	}
	var err error
	if opts.Limits, err = opts.Limits.check(); err != nil {
		return nil, err
	}
	fields, err := parseSelector(opts)
	if err != nil {
		return nil, err
	}
	name, arg, hasArg := strings.Cut(opts.Encoding, ":")
	for _, f := range formats {
		if f.name != name {
			continue
		}
		if hasArg && !f.field {
			return nil, fmt.Errorf("encoding %q: %s takes no argument", opts.Encoding, name)
		}
		if hasArg {
			if fields.only, err = parseChoice(arg); err != nil {
				return nil, fmt.Errorf("encoding %w", err)
			}
		}
		return &Spec{opts, fields, f.open}, nil
	}
	return nil, &UnknownError{opts.Encoding}
}

// An UnknownError is of an encoding that is not in the table.
type UnknownError struct{ Encoding string }

func (e *UnknownError) Error() string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return fmt.Sprintf("encoding %.40q is not known; want one of %s, or raw:FIELD", e.Encoding, strings.Join(names, ", "))
}

// Options returns the options with their defaults filled in, but limits that are the
// defaults left out.
func (s *Spec) Options() Options {
	o := s.opts
	o.Rename = slices.Clone(o.Rename)
	return o
}

// An Encoder encodes one sample after another. Each worker has its own.
type Encoder struct {
	fields selector
	skip   bool
	decode *decoder // nil: bytes stay bytes
	format format
	build  builder
	chosen converters.Sample // what goes into the record, where that is not the whole sample
	picks  []pick
	values []converters.Field
	rec    Record
}

// NewEncoder returns an encoder of its own memory.
func (s *Spec) NewEncoder() *Encoder {
	e := &Encoder{fields: s.fields, skip: s.opts.Missing == MissingSkip, format: s.open()}
	if s.opts.Decode {
		e.decode = newDecoder(s.opts.Limits)
	}
	return e
}

// A Record is the bytes of one encoded sample, in pieces.
type Record struct {
	Parts   [][]byte // in order; of a shape, the unread payloads are not among them
	Size    int64    // bytes, unread payloads included
	Fields  int      // fields of the sample in the record
	LeftOut int      // fields of the sample not in the record
}

// Encode encodes s. The record is the Encoder's: valid until the next call, and as long as s is.
// A sample that lacks a field is [ErrMissing], or [ErrSkip] where such are left out; one
// that does not fit the encoding is an error of package converters.
func (e *Encoder) Encode(s *converters.Sample) (*Record, error) {
	chosen := s
	var err error
	if e.decode != nil || !e.fields.all() {
		chosen = &e.chosen
		chosen.Key = s.Key
		chosen.Fields, err = e.choose(s)
	}
	if err == nil {
		e.build.reset()
		err = e.format.encode(&e.build, chosen)
	}
	if e.skip && errors.Is(err, ErrMissing) {
		return nil, ErrSkip
	}
	if err != nil {
		return nil, err
	}
	e.build.record(&e.rec)
	e.rec.Fields, e.rec.LeftOut = len(chosen.Fields), len(s.Fields)-len(chosen.Fields)
	return &e.rec, nil
}

// choose returns the selected fields of s, decoded and under their names in the record.
func (e *Encoder) choose(s *converters.Sample) ([]converters.Field, error) {
	var err error
	if e.picks, err = e.fields.apply(e.picks[:0], s); err != nil {
		return nil, err
	}
	e.values = e.values[:0]
	for _, p := range e.picks {
		e.values = append(e.values, s.Fields[p.from])
		f := &e.values[len(e.values)-1]
		if e.decode != nil {
			if f.Value, err = e.decode.field(f); err != nil {
				return nil, fmt.Errorf("field %q: %w", f.Name, err)
			}
		}
		f.Name = p.name
	}
	return e.values, nil
}
