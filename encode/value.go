package encode

import (
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
)

// AppendValue appends one value to b, in msgpack or cbor, as [Decodable] fields of those names have it. x is of a
// type that [converters.Nested] accepts.
func AppendValue(b []byte, encoding string, x any) ([]byte, error) {
	var m format
	switch encoding {
	case "msgpack":
		m = newMsgpack()
	case "cbor":
		m = newCBOR()
	default:
		return b, fmt.Errorf("internal error: no value in %q", encoding)
	}
	var build Builder
	if err := m.(*mapFormat).nested(&build, x); err != nil {
		return b, err
	}
	var r Record
	build.record(&r)
	return append(b, slices.Concat(r.Parts...)...), nil
}

// Any returns what a value holds, in a type that [converters.Nested] accepts. Bytes are not copied.
func Any(v *converters.Value) any {
	switch v.Kind() {
	case converters.KindBytes:
		return v.Data()
	case converters.KindText:
		return string(v.Data())
	case converters.KindInt:
		return v.Int()
	case converters.KindFloat:
		return v.Float()
	}
	return v.Nested()
}
