package find

import (
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/dataset/lookup"
)

// largestDecoded is the size in bytes of the largest record that is decoded to see its fields.
const largestDecoded = 64 << 20

// A share says how many samples have a field.
type share int

const (
	some share = iota // or it is not known
	all
	none
)

// fieldKnown returns which samples have a field, as far as meta.json tells.
func (s *Searcher) fieldKnown(name string) (share, error) {
	m, err := s.manifest()
	if err != nil || m == nil {
		return some, err
	}
	for _, e := range append(m.Encodes, m.Encode) {
		if e.Encoded || e.Rewrites() || strings.HasPrefix(e.Encoding, "raw") {
			return some, nil // its counts are of fields with other names
		}
	}
	total, counted := int64(0), len(s.meta.Fields)
	for i := range m.Shards {
		total += m.Shards[i].Samples
	}
	c, known := s.meta.Fields.Of(name)
	switch {
	case known && c.Samples == total:
		return all, nil
	case !known && counted > 0 && counted < mostCounted:
		return none, nil
	}
	return some, nil
}

// mostCounted is how many names of fields meta.json has at least if it counts others together.
const mostCounted = 1000

// has reports whether the record of a sample, which is placed, has the field. It reads the record.
func has(d *lookup.Dataset, r *lookup.Row, field string) (bool, error) {
	if r.At.Size > largestDecoded {
		return false, fmt.Errorf("sample %d: its record has %d bytes; records of more than %d are not decoded", r.Number, r.At.Size, largestDecoded)
	}
	data, err := d.Record(r)
	if err != nil {
		return false, err
	}
	sample, err := d.Decode(r, data)
	if err != nil {
		return false, err
	}
	_, ok := sample.Field(field)
	return ok, nil
}
