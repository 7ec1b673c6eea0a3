package encode

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/place"
)

// Names of the fields in which converters/cbor and converters/ffr give whole records, of an encoding that no option names.
const (
	itemName   = "item"
	recordName = "record"
)

// An Encoder encodes samples, one at a time. It must not be used concurrently.
type Encoder struct {
	fields selector
	skip   bool
	decode func(*converters.Field) (converters.Value, error) // nil if Options.Decode is not set
	tensor *tensors                                          // nil if Options.Tensor is not set
	form   Form

	// Verbatim means that the record of a sample of one field is the bytes of that field.
	Verbatim bool

	build  Builder
	chosen converters.Sample // the selected fields, if they are not the whole sample
	picks  []pick
	values []converters.Field
	rec    Record
	fixed  int64 // size of the last record without what differs between alike samples, if Alike may use it; 0: it may not

	inspect inspector
	damaged string                                            // Options.Damaged
	encoded bool                                              // the first field is the record
	inside  func(record *converters.Field) []converters.Field // nil: records are not copied
}

// NewEncoder returns a new Encoder.
func (s *Spec) NewEncoder() *Encoder {
	e := &Encoder{fields: s.fields, skip: s.opts.Missing == MissingSkip, form: s.open(), Verbatim: s.copies, damaged: s.opts.Damaged, encoded: s.opts.Encoded}
	if s.opts.Decode {
		e.decode = decode.NewField(s.opts.Limits)
	}
	e.tensor, _ = newTensors(&s.opts) // Parse has checked them
	if s.opts.Encoded || s.opts.Encoding == "raw" {
		e.inside = decode.NewInside(s.opts.Encoding, s.opts.Limits, s.opts.refusesDamaged())
	}
	return e
}

// NewSizer returns an Encoder for an index, which needs the sizes of records alone. It sizes pictures that become pixels
// by their heads without decoding them, so it does not see damage behind a head; NewEncoder's Encoder does.
func (s *Spec) NewSizer() *Encoder {
	e := s.NewEncoder()
	if e.tensor != nil {
		e.tensor.sizes = true
	}
	return e
}

// A Record is the bytes of one encoded sample, in pieces.
type Record struct {
	Parts  [][]byte // in order, without unread payloads
	Size   int64    // bytes, including unread payloads
	CRC    uint32   // Value.CRC of the field of which it is a copy; else 0
	Fields int      // fields of the sample in the record
}

// Encode encodes s. The record is valid until the next call, and only as long as s is valid. If s
// lacks a required field the error is [ErrMissing], or [ErrSkip] with MissingSkip. If s does not fit
// the encoding the error is one of package converters.
func (e *Encoder) Encode(s *converters.Sample) (*Record, error) {
	chosen := s
	e.fixed = 0
	var err error
	if !e.takesAll() {
		chosen = &e.chosen
		chosen.Key = s.Key
		chosen.Fields, err = e.choose(s)
	}
	if err == nil {
		e.build.reset()
		err = e.form(&e.build, chosen)
	}
	if e.skip && errors.Is(err, ErrMissing) {
		return nil, ErrSkip
	}
	if err != nil {
		return nil, err
	}
	if e.damaged != "" {
		if found := e.Damaged(s); len(found) > 0 {
			return nil, refuse(found, e.damaged == DamagedSkip)
		}
	}
	e.build.record(&e.rec)
	if e.Verbatim {
		e.rec.CRC = chosen.Fields[0].Value.CRC
	}
	e.rec.Fields = len(chosen.Fields)
	return &e.rec, nil
}

// Alike returns the size of the record of s, whose fields have the names and kinds of those of the last sample; both have
// keys or neither has. It encodes the first such sample. Later ones differ by the lengths of keys, bytes and texts and by
// the sizes of integers.
func (e *Encoder) Alike(s *converters.Sample) (int64, error) {
	if e.fixed > 0 {
		if n, ok := e.build.form.varying(&e.build, s); ok {
			return e.fixed + n, nil
		}
	}
	rec, err := e.Encode(s)
	if err != nil {
		return 0, err
	}
	if form := e.build.form; form != nil && e.takesAll() && e.damaged == "" {
		if n, ok := form.varying(&e.build, s); ok {
			e.fixed = rec.Size - n
		}
	}
	return rec.Size, nil
}

// takesAll reports whether all fields of a sample are in its record, unchanged.
func (e *Encoder) takesAll() bool { return e.decode == nil && e.tensor == nil && e.fields.all() }

// Damaged returns the fields that are not whole in the record of s, the last encoded sample, where their bytes are known. The
// result is valid until the next call.
func (e *Encoder) Damaged(s *converters.Sample) []Damage {
	if !e.takesAll() {
		return e.inspect.look(s.Fields, e.picks)
	}
	if e.inside != nil && len(s.Fields) > 0 && (e.encoded || s.Fields[0].Name == itemName || s.Fields[0].Name == recordName) {
		return e.inspect.look(e.inside(&s.Fields[0]), nil) // the others are copies
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
				err = place.WithHint(fmt.Errorf("%w: two fields are named %q as pixels", converters.ErrDuplicate, p.name), "option rename")
			}
		case e.decode != nil:
			f.Value, err = e.decode(f)
		}
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		f.Name = p.name
	}
	if e.tensor.none() {
		return nil, place.WithHint(fmt.Errorf("%w: no field has the suffix or the name %s, the sample has %q", ErrMissing, e.tensor.types, fieldNames(s)), "option missing skip leaves such samples out")
	}
	return e.values, nil
}
