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
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

// ErrMissing reports that a sample lacks a field that Options require.
var ErrMissing = errors.New("field missing")

// ErrSkip reports that a sample lacks a required field and that Options.Missing leaves it out.
var ErrSkip = errors.New("sample left out: field missing")

// A hintedError has a hint beside its text.
type hintedError struct {
	error
	hint string
}

func (e *hintedError) Unwrap() error { return e.error }

// Hint returns what to do about an error of [Encoder.Encode], with the names of the options, or "".
// The text of the error does not have it.
func Hint(err error) string {
	if e, ok := errors.AsType[*hintedError](err); ok {
		return e.hint
	}
	return ""
}

// WithHint returns err with a hint for [Hint].
func WithHint(err error, hint string) error { return &hintedError{err, hint} }

// Values of Options.Missing.
const (
	MissingError = "error" // refuse the input
	MissingSkip  = "skip"  // leave the sample out, and count it
)

// Options choose the fields and the encoding of records. The zero value is all fields, encoded in
// MessagePack. The JSON form is part of the plan file.
type Options struct {
	Encoding string   `json:"encoding"`          // a name of Names, "msgpack" by default; two take fields: "raw:FIELD", "pickle:FIELD,FIELD"
	Fields   string   `json:"fields,omitempty"`  // fields to keep, in order: "jpg;png,cls"; ";" = first that exists; default all
	Rename   []string `json:"rename,omitempty"`  // "image=jpg;png"; applied before Fields
	Missing  string   `json:"missing,omitempty"` // MissingError (default) or MissingSkip

	// Damaged says what becomes of samples with a picture, a sound or a film that is empty or cut: DamagedKeep (default),
	// DamagedSkip or DamagedError. But for the first an index must read all bytes.
	Damaged string `json:"damaged,omitempty"`

	// Encoded means that the first field of a sample is its record in this Encoding already, whose bytes are
	// written unchanged; its other fields are copies of values in the record. It goes with none of the options above
	// and below.
	Encoded bool `json:"encoded,omitempty"`

	// Decode decodes the fields of a record for which Decodable reports true. The name before
	// Rename counts.
	Decode bool `json:"decode,omitempty"`

	// Tensor names fields with pictures, by their suffixes, "jpg,png", or where they have no such suffix as a whole, "image/encoded". They
	// become their pixels: uint8, height × width × 3, as an array file of numpy that is named "npy" in place of its suffix, or
	// "image/encoded.npy", unless Rename names it; in raw records the pixels alone. Resize is their size: "256", of the
	// shorter edge, or "224x224", width and height; "" leaves it. The names before Rename count.
	Tensor string `json:"tensor,omitempty"`
	Resize string `json:"resize,omitempty"`

	// Load names fields whose bytes an index reads though the sizes of records do not depend on them: those that a
	// choice of samples compares; nil: none. They do not change the bytes of records, so a plan does not have them.
	Load *FieldNames `json:"-"`

	// Limits bound the fields that Decode decodes. They do not change the bytes of records, so a
	// plan does not have them.
	Limits Limits `json:"-"`
}

// Rewrites reports whether the options choose or change fields.
func (o *Options) Rewrites() bool {
	return o.Fields != "" || o.Rename != nil || o.Decode || o.Tensor != ""
}

// Loads reports whether an index must read the bytes of a field: the size of the record depends on them, or Load names it.
func (o *Options) Loads(field string) bool {
	return o.refusesDamaged() || o.Decode && Decodable(field) || o.Load != nil && slices.Contains(*o.Load, field) ||
		o.Tensor != "" && isTensor(o.Tensor, field)
}

func (o *Options) refusesDamaged() bool { return o.Damaged == DamagedSkip || o.Damaged == DamagedError }

// Needs returns the fields of a sample that records may have, by their names before Rename, and those of Load: lists of
// alternatives, of which one must exist. It is nil if all are needed. A source with columns reads those alone.
func (o *Options) Needs() (all [][]string) {
	_, only, _ := strings.Cut(o.Encoding, ":")
	if o.Fields == "" && only == "" {
		return nil
	}
	from := make(map[string][]string) // by the new name
	for _, r := range o.Rename {
		name, list, _ := strings.Cut(r, "=")
		from[name] = strings.Split(list, ";")
		all = append(all, from[name])
	}
	for choice := range strings.SplitSeq(cmp.Or(o.Fields, only), ",") {
		names := strings.Split(choice, ";")
		for _, name := range names {
			names = append(names, from[name]...)
		}
		all = append(all, names)
	}
	if o.Load != nil {
		for _, name := range *o.Load {
			all = append(all, []string{name})
		}
	}
	return all
}

// FieldNames are names of fields, before Options.Rename.
type FieldNames []string

// A format writes one sample into a record.
type format interface {
	encode(b *Builder, s *converters.Sample) error
}

// formats is the table of encodings.
var formats = []struct {
	name, help string
	fields     func(arg string) ([]choice, error) // reads its argument, names of fields; nil: it takes none
	open       func() format
	chosen     func() format // of records of the fields that the argument names
}{
	{"msgpack", "a map of __key__ and the fields, in MessagePack", nil, newMsgpack, nil},
	{"cbor", "the same map, in CBOR", nil, newCBOR, nil},
	{"raw", "the bytes of the only field, or of one with raw:FIELD, and nothing else", parseOnly, newRaw, newRaw},
	{"pickle", "the same map as a Python dict, for pickle.loads; a tuple of some fields with pickle:FIELD,FIELD", parseTuple, newPickle, newTuple},
	{"arrow", "an Arrow IPC stream with a column a field", nil, newArrow, nil},
}

// Names returns the encodings, each as "name: help" with one line of help.
func Names() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name+": "+f.help)
	}
	return names
}

// A Spec is a valid set of options. It may be used concurrently.
type Spec struct {
	opts   Options
	fields selector
	open   func() format
}

// Parse checks the options. The error is [*UnknownError] if the encoding does not exist.
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
	if opts.Limits, err = opts.Limits.check(); err != nil {
		return nil, err
	}
	if _, err = newTensors(&opts); err != nil {
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
		if hasArg && f.fields == nil {
			return nil, fmt.Errorf("encoding %q: %s takes no argument", opts.Encoding, name)
		}
		if opts.Encoded {
			return &Spec{opts, fields, newEncoded}, opts.checkEncoded()
		}
		if hasArg {
			if fields.only, err = f.fields(arg); err != nil {
				return nil, fmt.Errorf("encoding %q: %w", opts.Encoding, err)
			}
			return &Spec{opts, fields, f.chosen}, nil
		}
		return &Spec{opts, fields, f.open}, nil
	}
	return nil, &UnknownError{opts.Encoding}
}

// checkEncoded refuses options that would change records.
func (o *Options) checkEncoded() error {
	if o.Rewrites() {
		return errors.New("records that are encoded already keep all their fields, with their names and values")
	}
	return nil
}

// An UnknownError reports an encoding that does not exist.
type UnknownError struct{ Encoding string }

func (e *UnknownError) Error() string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return fmt.Sprintf("encoding %.40q is not known; want one of %s, raw:FIELD, or pickle:FIELD,FIELD", e.Encoding, strings.Join(names, ", "))
}

// A Form is a form of records that this package does not have, such as the members of a tar.
type Form interface {
	// Append appends the record of s to b. Where s has sizes in place of payload it appends what gives the same
	// size. The fields of s are selected by Options.
	Append(b *Builder, s *converters.Sample) error
}

// WithForm returns a Spec for records of another form in place of the encoding. Each Encoder has one of its own.
func (s *Spec) WithForm(open func() Form) *Spec {
	return &Spec{s.opts, s.fields, func() format { return formFormat{open()} }}
}

type formFormat struct{ Form }

func (f formFormat) encode(b *Builder, s *converters.Sample) error { return f.Append(b, s) }

// Options returns the options with defaults filled in. Limits that equal their default are 0.
func (s *Spec) Options() Options {
	o := s.opts
	o.Rename = slices.Clone(o.Rename)
	return o
}

// An Encoder encodes samples, one at a time. It must not be used concurrently.
type Encoder struct {
	fields selector
	skip   bool
	decode *decoder // nil if Options.Decode is not set
	tensor *tensors // nil if Options.Tensor is not set
	format format
	build  Builder
	chosen converters.Sample // the selected fields, if they are not the whole sample
	picks  []pick
	values []converters.Field
	rec    Record

	inspect inspector
	damaged string // Options.Damaged
	encoded bool   // the first field is the record
	inside  *insider
}

// NewEncoder returns a new Encoder.
func (s *Spec) NewEncoder() *Encoder {
	e := &Encoder{fields: s.fields, skip: s.opts.Missing == MissingSkip, format: s.open(), damaged: s.opts.Damaged, encoded: s.opts.Encoded}
	if s.opts.Decode {
		e.decode = newDecoder(s.opts.Limits)
	}
	e.tensor, _ = newTensors(&s.opts) // Parse has checked them
	if s.opts.Encoded || s.opts.Encoding == "raw" {
		e.inside = newInsider(&s.opts)
	}
	return e
}

// NewSizer returns an Encoder for an index. Its records have sizes alone where they differ from others in speed: pictures
// that become pixels are sized by their heads, not decoded. So a picture that is damaged behind its head is an error of another Encoder.
func (s *Spec) NewSizer() *Encoder {
	e := s.NewEncoder()
	if e.tensor != nil {
		e.tensor.sizes = true
	}
	return e
}

// Verbatim reports whether the record of a sample of one field is the bytes of that field.
func (e *Encoder) Verbatim() bool {
	switch e.format.(type) {
	case encodedFormat:
		return true
	case rawFormat:
		return e.decode == nil && e.tensor == nil && e.fields.all()
	}
	return false
}

// A Record is the bytes of one encoded sample, in pieces.
type Record struct {
	Parts   [][]byte // in order, without unread payloads
	Size    int64    // bytes, including unread payloads
	Fields  int      // fields of the sample in the record
	LeftOut int      // fields of the sample not in the record
	Damaged []Damage // fields in the record that are not whole, where their bytes are known
}

// Encode encodes s. The record is valid until the next call, and only as long as s is valid. If s
// lacks a required field the error is [ErrMissing], or [ErrSkip] with MissingSkip. If s does not fit
// the encoding the error is one of package converters.
func (e *Encoder) Encode(s *converters.Sample) (*Record, error) {
	chosen := s
	var err error
	if e.decode != nil || e.tensor != nil || !e.fields.all() {
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
	if e.rec.Damaged = e.look(s, chosen); len(e.rec.Damaged) > 0 && e.damaged != "" {
		return nil, refuse(e.rec.Damaged, e.damaged == DamagedSkip)
	}
	e.build.record(&e.rec)
	e.rec.Fields, e.rec.LeftOut = len(chosen.Fields), len(s.Fields)-len(chosen.Fields)
	return &e.rec, nil
}

// look returns the fields of the record that are not whole. chosen is s, or has its selected fields.
func (e *Encoder) look(s, chosen *converters.Sample) []Damage {
	if chosen != s {
		return e.inspect.look(s.Fields, e.picks)
	}
	if e.inside != nil && len(s.Fields) > 0 && (e.encoded || s.Fields[0].Name == itemName || s.Fields[0].Name == recordName) {
		return e.inspect.look(e.inside.look(&s.Fields[0]), nil) // the others are copies
	}
	return e.inspect.look(s.Fields, nil)
}

// choose returns the selected fields of s, decoded and renamed.
func (e *Encoder) choose(s *converters.Sample) ([]converters.Field, error) {
	var err error
	if e.picks, err = e.fields.apply(e.picks[:0], s); err != nil {
		return nil, err
	}
	e.values = e.values[:0]
	e.tensor.next()
	for _, p := range e.picks {
		e.values = append(e.values, s.Fields[p.from])
		f := &e.values[len(e.values)-1]
		switch {
		case e.tensor.takes(f.Name):
			f.Value, err = e.tensor.value(f)
			if p.name == f.Name {
				p.name = e.tensor.renamed(p.name)
			}
			if err == nil && slices.ContainsFunc(e.values[:len(e.values)-1], func(other converters.Field) bool { return other.Name == p.name }) {
				err = &hintedError{fmt.Errorf("%w: two fields are named %q as pixels", converters.ErrDuplicate, p.name), "Options.Rename"}
			}
		case e.decode != nil:
			f.Value, err = e.decode.field(f)
		}
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		f.Name = p.name
	}
	if e.tensor.none() {
		return nil, &hintedError{fmt.Errorf("%w: no field has the suffix or the name %s, the sample has %q", ErrMissing, e.tensor.types, fieldNames(s)), "Options.Missing skip leaves such samples out"}
	}
	return e.values, nil
}
