package jsonvalue

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ffconvert/ffconvert/converters"
)

// NewObjects returns a function that decodes JSON objects, whose members are the fields of samples. A value {"$bytes": "…"} is the
// bytes of its base64. The function refuses any other JSON value; an error has its place, [*Error], where there is one. A sample is
// valid until the next call, and as long as text is not changed. The function must not be used concurrently.
//
// keyField is the member with the sample's key, a text or an integer. It is a field too. "": the member [converters.KeyField], a
// text, which is not a field, where there is one. maxDepth is the deepest nesting of lists and maps in a field, at most 10,000.
// maxValues limits the members of an object together with the values in its lists and maps, because each takes some 64 bytes of
// memory. 0: no limit.
func NewObjects(keyField string, maxDepth, maxValues int) func(text []byte) (*converters.Sample, error) {
	return (&reader{depth: maxDepth, most: maxValues, bytes: true, keyField: keyField}).sampleOf
}

// sampleOf decodes one JSON object.
func (r *reader) sampleOf(text []byte) (*converters.Sample, error) {
	r.sample.Key, r.sample.Fields = "", r.sample.Fields[:0]
	r.start(text)
	if k := r.dec.PeekKind(); k != '{' {
		return nil, r.noObject(k)
	}
	if err := r.begin(); err != nil {
		return nil, err
	}
	r.open = 0 // the depth counts within a field
	for {
		more, err := r.more('}')
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		if err := r.member(); err != nil {
			return nil, err
		}
	}
	if r.keyField != "" && r.sample.Key == "" {
		return nil, malformed("it has no %q, the key", r.keyField)
	}
	return &r.sample, r.end()
}

// noObject refuses a text that begins with a value of another kind.
func (r *reader) noObject(k jsontext.Kind) error {
	if _, err := r.value(); err != nil {
		return err
	}
	names := map[jsontext.Kind]string{'[': "a list", '"': "a text", '0': "a number", 'n': "null"}
	return malformed("it is %s, an object is expected", cmp.Or(names[k], "a truth value"))
}

// member decodes a name and its value.
func (r *reader) member() error {
	quoted, err := r.dec.ReadValue()
	if err != nil {
		return r.bad(err)
	}
	at := r.dec.InputOffset() - int64(len(quoted))
	name := r.name(r.unquote(quoted))
	v, err := r.memberValue()
	if err != nil {
		return err
	}
	if name == cmp.Or(r.keyField, converters.KeyField) {
		switch {
		case v.Kind() == converters.KindText && v.Len() > 0:
			r.sample.Key = string(v.Data())
		case v.Kind() == converters.KindInt && r.keyField != "":
			r.sample.Key = strconv.FormatInt(v.Int(), 10)
		default:
			return &Error{at, fmt.Errorf("%w: its %q, the key, is not a text, or empty", converters.ErrUnsupported, name)}
		}
	}
	if name == converters.KeyField {
		if r.keyField != "" && r.keyField != converters.KeyField {
			return &Error{at, fmt.Errorf("%w: it has a %q beside the key %q", converters.ErrUnsupported, converters.KeyField, r.keyField)}
		}
		return nil
	}
	r.sample.Fields = append(r.sample.Fields, converters.Field{Name: name, Value: v})
	return nil
}

// name returns b as the name of the next field. The name that the last object had in this place costs no allocation.
func (r *reader) name(b []byte) string {
	if n := len(r.sample.Fields); n < cap(r.sample.Fields) {
		if last := r.sample.Fields[:n+1][n].Name; last == string(b) {
			return last
		}
	}
	return string(b)
}

// memberValue decodes the value of a field. A text without escapes is not copied.
func (r *reader) memberValue() (v converters.Value, err error) {
	if r.dec.PeekKind() == '"' {
		quoted, err := r.dec.ReadValue()
		if err != nil {
			return v, r.bad(err)
		}
		return converters.Text(r.unquote(quoted)), nil
	}
	x, err := r.value()
	if err != nil {
		return v, err
	}
	return converters.ValueOf(x), nil
}

// unquote returns the content of a text that is valid JSON. It is part of quoted, or valid until the next object.
func (r *reader) unquote(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1 : len(quoted)-1]
	}
	from := len(r.unquoted)
	r.unquoted, _ = jsontext.AppendUnquote(r.unquoted, quoted)
	return r.unquoted[from:len(r.unquoted):len(r.unquoted)]
}
