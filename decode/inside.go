package decode

import (
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/heads"
)

// An inside finds the fields of a record that is copied as it is. It decodes no value of a MessagePack or CBOR map.
type inside struct {
	encoding string       // of all records; "": that of the first byte, if it is the map of one
	forms    *heads.Forms // of the encoding; nil: it has none
	field    string       // name of the field that the record is, of raw:FIELD
	depth    int
	records  *Decoder // of the other encodings
	names    []string // of the fields of the last record, which the next one mostly has, too
	fields   []converters.Field
}

// NewInside returns a function that finds the fields of a record that has an encoding, or for raw any encoding. They are those of
// bytes, or the record itself if it is no map. There are none for a record of another encoding.
//
// Pickles and Arrow must be decoded, which takes up to five times the processor time of a copy: their fields are found only if
// all is set. The function must not be used concurrently. The fields are valid until the next call.
func NewInside(encoding string, limits Limits, all bool) func(record *converters.Field) []converters.Field {
	in := &inside{depth: limits.filled().MaxDepth}
	name, arg, _ := strings.Cut(encoding, ":")
	switch in.encoding = name; name {
	case "raw":
		in.encoding = ""
		in.field, _, _ = strings.Cut(arg, ";")
	case "msgpack":
		in.forms = heads.MessagePack
	case "cbor":
		in.forms = heads.CBOR
	default:
		if records, err := New(encoding, limits); err == nil && all {
			in.records = records
		}
	}
	return in.look
}

func (in *inside) look(f *converters.Field) []converters.Field {
	if f.Value.Kind() != converters.KindBytes || f.Value.Unread() {
		return nil
	}
	in.fields = in.fields[:0]
	record, forms := f.Value.Data(), in.forms
	switch {
	case in.field != "":
		return append(in.fields, converters.Field{Name: in.field, Value: f.Value})
	case len(record) == 0:
		return nil
	case in.records != nil:
		s, err := in.records.Decode(record)
		if err != nil {
			return nil
		}
		return s.Fields
	case in.encoding == "":
		if forms = mapForms(record[0]); forms == nil {
			return append(in.fields, *f)
		}
	}
	if forms == nil || !entries(forms, record, in.depth, in.add) {
		return nil
	}
	return in.fields
}

// add appends a field of bytes.
func (in *inside) add(name []byte, h heads.Head, value []byte) {
	if h.Kind != heads.Bytes {
		return
	}
	n := len(in.fields)
	if n == len(in.names) {
		in.names = append(in.names, string(name))
	} else if in.names[n] != string(name) {
		in.names[n] = string(name)
	}
	in.fields = append(in.fields, converters.Field{Name: in.names[n], Value: converters.Bytes(value[h.Size:])})
}
