// Package encode turns a sample into the bytes of one record.
//
//	spec, err := encode.Parse(encode.Options{Encoding: "msgpack", Fields: "jpg;png,cls"})
//	enc := spec.NewEncoder()
//	rec, err := enc.Encode(sample) // rec.Parts, rec.Size
//
// A record is handed on in pieces, so that a payload is never copied to stand behind
// its head. Encoding the shape of a sample, its payload sized but not read, gives the
// exact size of the record: that is how a plan knows every shard to the byte.
package encode

import (
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
	Encoding string   `json:"encoding"`          // "msgpack" (default) or "raw:FIELD"
	Fields   string   `json:"fields,omitempty"`  // fields to keep, in order: "jpg;png,cls"; ";" = first that exists; default all
	Rename   []string `json:"rename,omitempty"`  // "image=jpg;png"; applied before Fields
	Missing  string   `json:"missing,omitempty"` // MissingError (default) or MissingSkip
}

// A format writes one sample into a record.
type format interface {
	encode(r *builder, s *converters.Sample) error
}

// formats is the table of encodings. An argument is what follows the colon.
var formats = []struct {
	name, help string
	open       func(arg string) (format, error)
}{
	{"msgpack", "a map of __key__ and the fields, in MessagePack", openMsgpack},
	{"raw", "raw:FIELD, the bytes of one field and nothing else", openRaw},
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
	open   func() (format, error)
}

// Parse checks the options.
func Parse(opts Options) (*Spec, error) {
	if opts.Encoding == "" {
		opts.Encoding = "msgpack"
	}
	if opts.Missing == "" {
		opts.Missing = MissingError
	}
	if opts.Missing != MissingError && opts.Missing != MissingSkip {
		return nil, fmt.Errorf("missing %q: want %s or %s", opts.Missing, MissingError, MissingSkip)
	}
	fields, err := parseSelector(opts)
	if err != nil {
		return nil, err
	}
	name, arg, _ := strings.Cut(opts.Encoding, ":")
	for _, f := range formats {
		if f.name != name {
			continue
		}
		if _, err := f.open(arg); err != nil {
			return nil, fmt.Errorf("encoding %q: %w", opts.Encoding, err)
		}
		return &Spec{opts: opts, fields: fields, open: func() (format, error) { return f.open(arg) }}, nil
	}
	return nil, fmt.Errorf("encoding %q is not known; there are %s", opts.Encoding, strings.Join(Names(), "; "))
}

// Options returns the options with their defaults filled in.
func (s *Spec) Options() Options {
	o := s.opts
	o.Rename = slices.Clone(o.Rename)
	return o
}

// An Encoder encodes one sample after another. Each worker has its own.
type Encoder struct {
	fields selector
	skip   bool
	format format
	build  builder
	chosen converters.Sample
}

// NewEncoder returns an encoder of its own memory.
func (s *Spec) NewEncoder() *Encoder {
	f, err := s.open()
	if err != nil {
		panic("encode: a parsed spec no longer opens: " + err.Error())
	}
	return &Encoder{fields: s.fields, skip: s.opts.Missing == MissingSkip, format: f}
}

// A Record is the bytes of one encoded sample, in pieces.
type Record struct {
	Parts   [][]byte // in order; of a shape, the unread payloads are not among them
	Size    int64    // bytes, unread payloads included
	Fields  int      // fields of the sample in the record
	LeftOut int      // fields of the sample not in the record
}

// Encode encodes s. The record is valid until the next call and as long as s is.
// A sample that lacks a field is [ErrMissing], or [ErrSkip] where such are left out.
func (e *Encoder) Encode(s *converters.Sample) (Record, error) {
	e.chosen.Key = s.Key
	fields, err := e.fields.apply(e.chosen.Fields[:0], s)
	e.chosen.Fields = fields
	if err == nil {
		e.build.reset()
		err = e.format.encode(&e.build, &e.chosen)
	}
	if e.skip && errors.Is(err, ErrMissing) {
		return Record{}, ErrSkip
	}
	if err != nil {
		return Record{}, err
	}
	r := e.build.record()
	r.Fields = e.build.fields
	r.LeftOut = len(s.Fields) - r.Fields
	return r, nil
}
