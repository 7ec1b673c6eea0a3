package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// FieldCounts are counts of fields, each name once. Every part of a plan has one, and there may be very many
// parts with few fields each: they take 32 bytes a field, a tenth of a map. In JSON it is an object.
type FieldCounts []FieldCount

// fewFields is the largest number of fields that most parts have.
const fewFields = 8

func (c FieldCounts) find(name string) (int, bool) {
	return slices.BinarySearchFunc(c, name, func(n FieldCount, name string) int { return cmp.Compare(n.Name, name) })
}

// add adds to the count of a field.
func (c *FieldCounts) add(n FieldCount) {
	i, found := c.find(n.Name)
	if !found {
		if len(*c) < fewFields { // no room for more
			*c = append(make(FieldCounts, 0, len(*c)+1), *c...)
		}
		*c = slices.Insert(*c, i, FieldCount{Name: n.Name})
	}
	at := &(*c)[i]
	at.Samples += n.Samples
	at.Bytes += n.Bytes
}

// MarshalJSON writes an object, sorted by name.
func (c FieldCounts) MarshalJSON() ([]byte, error) {
	if c == nil {
		return []byte("null"), nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the enclosing encoder decides
	b.WriteByte('{')
	for i, n := range c {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(n.Name); err != nil {
			return nil, err
		}
		b.Truncate(b.Len() - 1) // the newline
		b.WriteByte(':')
		if err := enc.Encode(n); err != nil {
			return nil, err
		}
		b.Truncate(b.Len() - 1)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (c *FieldCounts) UnmarshalJSON(text []byte) error {
	var byName map[string]FieldCount
	if err := json.Unmarshal(text, &byName); err != nil || byName == nil {
		return err
	}
	*c = make(FieldCounts, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		n := byName[name]
		n.Name = name
		*c = append(*c, n)
	}
	return nil
}
