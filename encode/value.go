package encode

import (
	"fmt"
	"slices"
)

// AppendValue appends one value to b, in msgpack or cbor, as fields of those names have it. x is of a
// type that [converters.Nested] accepts.
func AppendValue(b []byte, encoding string, x any) ([]byte, error) {
	m := msgpackForm
	if encoding == "cbor" {
		m = cborForm
	} else if encoding != "msgpack" {
		return b, fmt.Errorf("internal error: no value in %q", encoding)
	}
	var build Builder
	if err := m.nested(&build, x); err != nil {
		return b, err
	}
	var r Record
	build.record(&r)
	return append(b, slices.Concat(r.Parts...)...), nil
}
