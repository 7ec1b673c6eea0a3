package encode

import (
	"strings"

	"github.com/fxamacker/cbor/v2"

	"github.com/ffconvert/ffconvert/converters"
)

// Names of fields that are whole records of an encoding that no option says: those of packages converters/cbor and
// converters/ffr.
const (
	itemName   = "item"
	recordName = "record"
)

// An insider finds the fields of a record that is copied as it is. It decodes no value of a MessagePack or CBOR map. Pickles
// and Arrow must be decoded, which takes up to five times the processor time of the copy: it finds their fields only
// where Options.Damaged refuses some.
type insider struct {
	encoding string // of all records; "": that of the first byte, if it is the map of one
	field    string // name of the field that the record is, of raw:FIELD
	skip     cbor.DecMode
	skipped  cbor.RawMessage
	records  *Decoder // of the other encodings
	names    []string // of the fields of the last record, which the next one mostly has, too
	fields   []converters.Field
}

// newInsider returns an insider for records of the options.
func newInsider(opts *Options) *insider {
	in := &insider{skip: newCBORSkipMode(opts.Limits.filled().MaxDepth)}
	name, arg, _ := strings.Cut(opts.Encoding, ":")
	switch {
	case name == "raw":
		in.field, _, _ = strings.Cut(arg, ";")
	case name == "msgpack" || name == "cbor":
		in.encoding = name
	default:
		in.encoding = name
		if records, err := NewDecoder(*opts); err == nil && opts.refusesDamaged() {
			in.records = records
		}
	}
	return in
}

// look returns fields of a record whose values are bytes, or the record itself if it is no map. It is nil for a record that
// is not of the encoding.
func (in *insider) look(f *converters.Field) []converters.Field {
	if f.Value.Kind() != converters.KindBytes || f.Value.Unread() {
		return nil
	}
	in.fields = in.fields[:0]
	record, encoding := f.Value.Data(), in.encoding
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
	case encoding == "" && record[0] >= cborMap && record[0] <= cborMap|31:
		encoding = "cbor"
	case encoding == "" && isMsgpackMap(record[0]):
		encoding = "msgpack"
	case encoding == "":
		return append(in.fields, *f)
	}
	item := cborItem
	if encoding == "msgpack" {
		item = msgpackItem
	}
	if encoding != "msgpack" && encoding != "cbor" {
		return nil
	}
	if in.walk(record, item) || encoding == "cbor" && in.open(record) {
		return in.fields
	}
	return nil
}

// add appends a field.
func (in *insider) add(name, value []byte) {
	n := len(in.fields)
	if n == len(in.names) {
		in.names = append(in.names, string(name))
	} else if in.names[n] != string(name) {
		in.names[n] = string(name)
	}
	in.fields = append(in.fields, converters.Field{Name: in.names[n], Value: converters.Bytes(value)})
}

// A class says what an item of a map may be for the record.
type class int

const (
	otherItem class = iota
	textItem
	bytesItem
	mapItem
)

// An itemReader reads the item at the start of data, which is not empty: its bytes, if it has some, and how many items it
// consists of, which follow in rest. rest is nil if data is cut, or no item of a known length.
type itemReader func(data []byte) (is class, value []byte, items uint64, rest []byte)

// walk reports whether the record is a map, of which it finds the fields.
func (in *insider) walk(record []byte, item itemReader) bool {
	is, _, values, rest := item(record)
	if is != mapItem {
		return false
	}
	for ; values > 0 && len(rest) > 0; values -= 2 {
		var name, value []byte
		if is, name, _, rest = item(rest); is != textItem || len(rest) == 0 {
			return false
		}
		more := uint64(0)
		if is, value, more, rest = item(rest); is == bytesItem && rest != nil {
			in.add(name, value)
		}
		for ; more > 0 && len(rest) > 0; more-- {
			n := uint64(0)
			if _, _, n, rest = item(rest); n > uint64(len(rest)) {
				return false
			}
			more += n
		}
		if more > 0 {
			return false
		}
	}
	return values == 0 && rest != nil && len(rest) == 0
}

// open reports whether the record is a CBOR map that has items of unknown length, of which it finds the fields.
func (in *insider) open(record []byte) bool {
	in.fields = in.fields[:0]
	if record[0] < cborMap || record[0] > cborMap|31 || in.skip.Wellformed(record) != nil {
		return false
	}
	n, rest := cborCount(record)
	for ; !cborEnds(n, rest); n-- {
		if rest[0] < cborText || rest[0] > cborText|27 {
			return false
		}
		var name, value []byte
		if name, rest = cborString(rest); rest[0] >= cborBytes && rest[0] <= cborBytes|27 {
			value, rest = cborString(rest)
			in.add(name, value)
			continue
		}
		var err error
		if rest, err = in.skip.UnmarshalFirst(rest, &in.skipped); err != nil {
			return false
		}
	}
	return true
}
