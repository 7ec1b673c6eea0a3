package decode

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
)

// A Decoder decodes records, the inverse of an encoder of package encode: a record that it has encoded is the encoding of its decoded
// sample, to the byte. It must not be used concurrently.
type Decoder struct {
	decode func(*Decoder, []byte) error
	limits Limits              // with defaults filled in
	items  *items              // of MessagePack and CBOR
	fields []string            // names of the fields of raw records and of tuples
	names  map[string]struct{} // of the fields of this record, if they are many
	sample converters.Sample
}

// RawField is the name of the only field of records that are encoded as raw without a name.
const RawField = "data"

// New returns a decoder of records of an encoding; "": msgpack. A record of raw:FIELD has the field FIELD, one of raw the field
// [RawField], one of pickle:FIELD,FIELD these fields; none has a key. The error is [*UnknownError] if the encoding does not exist.
func New(encoding string, limits Limits) (*Decoder, error) {
	limits, err := limits.Check()
	if err != nil {
		return nil, err
	}
	name, choices, err := Parse(encoding)
	if err != nil {
		return nil, err
	}
	d := &Decoder{limits: limits.filled(), names: make(map[string]struct{})}
	for _, c := range choices {
		d.fields = append(d.fields, c[0])
	}
	switch name {
	case "msgpack":
		d.items = newMsgpack(d.limits)
		d.decode = (*Decoder).object
	case "cbor":
		d.items = newCBOR(d.limits)
		d.decode = (*Decoder).object
	case "pickle":
		if d.decode = (*Decoder).pickle; choices != nil {
			d.decode = (*Decoder).tuple
		}
	case "arrow":
		d.decode = (*Decoder).table
	case "raw":
		d.decode = (*Decoder).raw
		if choices == nil {
			d.fields = []string{RawField}
		}
	}
	return d, nil
}

// Decode decodes one record, which may be any bytes. The sample is valid until the next call, and as long as
// record is not changed: bytes and text of its fields are not copied. Errors wrap one of package converters:
// ErrMalformed if it is no record of the encoding, ErrUnsupported if it has values that do not fit a sample, ErrLimit
// if a list or a map is larger or nested deeper than its limits.
func (d *Decoder) Decode(record []byte) (*converters.Sample, error) {
	d.sample.Key, d.sample.Fields = "", d.sample.Fields[:0]
	clear(d.names)
	if err := d.decode(d, record); err != nil {
		return nil, err
	}
	return &d.sample, nil
}

func (d *Decoder) raw(record []byte) error {
	return d.add(d.fields[0], converters.Bytes(record))
}

// add appends a field.
func (d *Decoder) add(name string, v converters.Value) error {
	if d.has(name) {
		return keyTwice(name)
	}
	d.sample.Fields = append(d.sample.Fields, converters.Field{Name: name, Value: v})
	return nil
}

// fewFields are compared one by one, which is faster than a map.
const fewFields = 16

// has reports whether the record has an entry of that name so far.
func (d *Decoder) has(name string) bool {
	fields := d.sample.Fields
	if name == converters.KeyField && d.sample.Key != "" {
		return true
	}
	if len(fields) <= fewFields {
		for i := range fields {
			if fields[i].Name == name {
				return true
			}
		}
		return false
	}
	for i := len(d.names); i < len(fields); i++ {
		d.names[fields[i].Name] = struct{}{}
	}
	_, there := d.names[name]
	return there
}

// name returns b as the name of the next field. Records of a dataset mostly have the same fields: the name
// that the last record had in this place costs no check and no allocation.
func (d *Decoder) name(b []byte) (string, error) {
	if string(b) == converters.KeyField {
		return converters.KeyField, nil
	}
	if n := len(d.sample.Fields); n < cap(d.sample.Fields) {
		if last := d.sample.Fields[:n+1][n].Name; last == string(b) {
			return last, nil
		}
	}
	return string(b), checkUTF8(b)
}

// put adds an entry of a map: the key of the sample, or a field.
func (d *Decoder) put(name string, v converters.Value) error {
	if name != converters.KeyField || v.Kind() != converters.KindText || v.Len() == 0 {
		return d.add(name, v)
	}
	if len(d.sample.Fields) > 0 || d.sample.Key != "" {
		return fmt.Errorf("%w: the key comes after a field", converters.ErrUnsupported)
	}
	d.sample.Key = string(v.Data())
	return nil
}

func notMap(encoding string) error { return malformed("it is not a map in %s", encoding) }

func badName() error {
	return fmt.Errorf("%w: the name of a field is not text", converters.ErrUnsupported)
}

// isKey reports whether a value may be the key of a [converters.Map].
func isKey(x any) bool {
	switch x.(type) {
	case []byte, []any, converters.Map:
		return false
	}
	return true
}

func badKey() error {
	return fmt.Errorf("%w: the key of a map is neither text nor a number", converters.ErrUnsupported)
}
