package decode

import (
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/heads"
)

// A FieldSize is the name of a field and the size of its encoded value, including its head.
type FieldSize struct {
	Name  string
	Bytes int64
}

// Describe returns the key ("" if there is none) and the fields of a record that package encode has encoded in MessagePack or CBOR. For
// any other bytes ok is false.
func Describe(record []byte) (key string, fields []FieldSize, ok bool) {
	if len(record) == 0 {
		return "", nil, false
	}
	t := mapForms(record[0])
	if t == nil || t.Of(record[0]).Kind == heads.OpenMap {
		return "", nil, false
	}
	some, sound := false, true
	ok = entries(t, record, DefaultMaxDepth, func(name []byte, h heads.Head, value []byte) {
		first := !some
		some = true
		sound = sound && (t == heads.MessagePack || utf8.Valid(name))
		if first && string(name) == converters.KeyField {
			sound = sound && h.Kind == heads.Text && utf8.Valid(value[h.Size:])
			key = string(value[h.Size:])
			return
		}
		fields = append(fields, FieldSize{string(name), int64(len(value))})
	})
	if !ok || !some || !sound {
		return "", nil, false
	}
	return key, fields, true
}
