package encode

import (
	"bytes"

	"github.com/vmihailenco/msgpack/v5"
)

// Describe tells the key and the field names of a record that is a map as this package
// makes them, key first. For any other bytes ok is false.
func Describe(record []byte) (key string, fields []string, ok bool) {
	dec := msgpack.NewDecoder(bytes.NewReader(record))
	n, err := dec.DecodeMapLen()
	if err != nil || n < 1 || n > len(record) {
		return "", nil, false
	}
	if name, err := dec.DecodeString(); err != nil || name != KeyField {
		return "", nil, false
	}
	if key, err = dec.DecodeString(); err != nil {
		return "", nil, false
	}
	for range n - 1 {
		name, err := dec.DecodeString()
		if err != nil || dec.Skip() != nil {
			return "", nil, false
		}
		fields = append(fields, name)
	}
	return key, fields, true
}
