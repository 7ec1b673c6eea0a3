package decode

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ffconvert/ffconvert/converters"
)

// NewJSONDecoder returns a decoder of JSON objects. Unlike the records of an encoding they are not equal to the encoding
// of their samples: blanks, escapes and the digits of numbers may differ. A value {"$bytes": "…"} is the bytes of its
// base64. Decode refuses any other JSON value. An error has its place, [*JSONError], where there is one.
//
// keyField is the member with the sample's key, a text or an integer. It is a field too. "": the member [converters.KeyField], a
// text, which is not a field, where there is one. maxDepth is the deepest nesting of lists and maps in a field, at most 10,000.
// maxValues limits the members of an object together with the values in its lists and maps, because each takes some 64 bytes of
// memory. 0: no limit.
func NewJSONDecoder(keyField string, maxDepth, maxValues int) *Decoder {
	d := &Decoder{decode: (*Decoder).jsonObject, keyField: keyField}
	d.json = jsonReader{depth: maxDepth, most: maxValues, bytes: true}
	return d
}

// NewJSON returns a function that decodes one JSON text as [NewField] decodes a field json. It must not be used concurrently.
func NewJSON(limits Limits) func(text []byte) (converters.Value, error) {
	return (&jsonReader{depth: limits.filled().MaxDepth}).decode
}

// decode decodes one JSON text.
func (r *jsonReader) decode(text []byte) (converters.Value, error) {
	r.start(text)
	x, err := r.value()
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return converters.Value{}, err
	}
	return converters.ValueOf(x), nil
}

// jsonObject decodes one JSON object. Its members are the fields.
func (d *Decoder) jsonObject(text []byte) error {
	d.text = d.text[:0]
	r := &d.json
	r.start(text)
	if k := r.dec.PeekKind(); k != '{' {
		return r.noObject(k)
	}
	if err := r.begin(); err != nil {
		return err
	}
	r.open = 0 // the depth counts within a field
	for {
		more, err := r.more('}')
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := d.member(r); err != nil {
			return err
		}
	}
	if d.keyField != "" && d.sample.Key == "" {
		return malformed("it has no %q, the key", d.keyField)
	}
	return r.end()
}

// noObject refuses a text that begins with a value of another kind.
func (r *jsonReader) noObject(k jsontext.Kind) error {
	if _, err := r.value(); err != nil {
		return err
	}
	names := map[jsontext.Kind]string{'[': "a list", '"': "a text", '0': "a number", 'n': "null"}
	return malformed("it is %s, an object is expected", cmp.Or(names[k], "a truth value"))
}

// member decodes a name and its value.
func (d *Decoder) member(r *jsonReader) error {
	quoted, err := r.dec.ReadValue()
	if err != nil {
		return r.bad(err)
	}
	at := r.dec.InputOffset() - int64(len(quoted))
	name := d.name(d.unquote(quoted))
	v, err := d.memberValue(r)
	if err != nil {
		return err
	}
	if name == cmp.Or(d.keyField, converters.KeyField) {
		switch {
		case v.Kind() == converters.KindText && v.Len() > 0:
			d.sample.Key = string(v.Data())
		case v.Kind() == converters.KindInt && d.keyField != "":
			d.sample.Key = strconv.FormatInt(v.Int(), 10)
		default:
			return &JSONError{at, fmt.Errorf("%w: its %q, the key, is not a text, or empty", converters.ErrUnsupported, name)}
		}
	}
	if name == converters.KeyField {
		if d.keyField != "" && d.keyField != converters.KeyField {
			return &JSONError{at, fmt.Errorf("%w: it has a %q beside the key %q", converters.ErrUnsupported, converters.KeyField, d.keyField)}
		}
		return nil
	}
	d.sample.Fields = append(d.sample.Fields, converters.Field{Name: name, Value: v})
	return nil
}

// memberValue decodes the value of a field. A text without escapes is not copied.
func (d *Decoder) memberValue(r *jsonReader) (v converters.Value, err error) {
	if r.dec.PeekKind() == '"' {
		quoted, err := r.dec.ReadValue()
		if err != nil {
			return v, r.bad(err)
		}
		return converters.Text(d.unquote(quoted)), nil
	}
	x, err := r.value()
	if err != nil {
		return v, err
	}
	return converters.ValueOf(x), nil
}

// unquote returns the content of a text that is valid JSON. It is part of quoted, or valid until the next Decode.
func (d *Decoder) unquote(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1 : len(quoted)-1]
	}
	from := len(d.text)
	d.text, _ = jsontext.AppendUnquote(d.text, quoted)
	return d.text[from:len(d.text):len(d.text)]
}
