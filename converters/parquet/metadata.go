package parquet

import (
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

// decode decodes the fields of a footer. It does not check their values.
func (t *table) decode(b []byte) (elements []element, err error) {
	d := thrift{b: b}
	encrypted := false
	t.rows = -1
	d.fields(thriftStruct, []any{
		2: func(kind byte) {
			d.list(kind, func(kind byte) { elements = append(elements, decodeElement(&d, kind)) })
		},
		3: &t.rows,
		4: func(kind byte) { d.list(kind, func(kind byte) { t.groups = append(t.groups, decodeGroup(&d, kind)) }) },
		5: func(kind byte) { d.list(kind, func(kind byte) { t.keyValue(&d, kind) }) },
		8: func(kind byte) {
			encrypted = true
			d.skip(kind)
		},
	})
	switch {
	case d.err != nil:
		return nil, fmt.Errorf("%w: %w", converters.ErrMalformed, d.err)
	case encrypted:
		return nil, fmt.Errorf("%w: its columns are encrypted", converters.ErrUnsupported)
	}
	return elements, nil
}

func decodeElement(d *thrift, kind byte) element {
	e := element{physical: -1, converted: -1}
	l := &e.logical
	unit := func(kind byte) { d.record(kind, func(id int, _ byte) bool { l.unit = id; return false }) }
	details := map[int][]any{logicalDecimal: {1: &l.scale}, logicalInteger: {1: &l.bits, &l.signed}, logicalTime: {2: unit}, logicalTimestamp: {2: unit}}
	d.fields(kind, []any{1: &e.physical, &e.length, &e.repetition, &e.name, &e.children, &e.converted, &e.scale, 10: func(kind byte) {
		d.record(kind, func(id int, kind byte) bool {
			l.kind = id
			d.fields(kind, details[id])
			return true
		})
	}})
	return e
}

func decodeGroup(d *thrift, kind byte) group {
	g := group{rows: -1}
	d.fields(kind, []any{1: func(kind byte) {
		d.list(kind, func(kind byte) { g.chunks = append(g.chunks, decodeChunk(d, kind)) })
	}, 3: &g.rows})
	return g
}

func decodeChunk(d *thrift, kind byte) chunk {
	c := chunk{physical: -1, values: -1, off: -1, size: -1, nulls: -1}
	dictionary := int64(0)
	outside := func(kind byte) { // name of another file, encryption, encrypted metadata
		c.outside = true
		d.skip(kind)
	}
	d.fields(kind, []any{1: outside, 3: func(kind byte) {
		d.fields(kind, []any{1: &c.physical, 4: &c.codec, 5: &c.values, 7: &c.size, 9: &c.off, 11: &dictionary, 12: func(kind byte) {
			d.fields(kind, []any{3: &c.nulls})
		}})
	}, 8: outside, 9: outside})
	if dictionary > 0 && dictionary < c.off {
		c.off = dictionary
	}
	return c
}

// keyValue decodes an entry of the metadata that applications add.
func (t *table) keyValue(d *thrift, kind byte) {
	var key string
	var value []byte
	d.fields(kind, []any{1: &key, &value})
	switch {
	case key == "huggingface":
		t.feature = value
	case strings.HasPrefix(key, "org.apache.spark."):
		t.spark = true
	}
}
