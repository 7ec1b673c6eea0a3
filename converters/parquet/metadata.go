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
	d.record(thriftStruct, func(id int, kind byte) bool {
		switch id {
		case 2:
			d.list(kind, func(kind byte) { elements = append(elements, decodeElement(&d, kind)) })
		case 3:
			t.rows = d.integer(kind)
		case 4:
			d.list(kind, func(kind byte) { t.groups = append(t.groups, decodeGroup(&d, kind)) })
		case 5:
			d.list(kind, func(kind byte) { t.keyValue(&d, kind) })
		case 8:
			encrypted = true
			return false
		default:
			return false
		}
		return true
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
	d.record(kind, func(id int, kind byte) bool {
		switch id {
		case 1:
			e.physical = d.small(kind)
		case 2:
			e.length = d.small(kind)
		case 3:
			e.repetition = d.small(kind)
		case 4:
			e.name = string(d.binary(kind))
		case 5:
			e.children = d.small(kind)
		case 6:
			e.converted = d.small(kind)
		case 7:
			e.scale = d.small(kind)
		case 10:
			d.record(kind, func(id int, kind byte) bool {
				e.logical.kind = id
				d.record(kind, func(id int, kind byte) bool { return e.logical.detail(d, id, kind) })
				return true
			})
		default:
			return false
		}
		return true
	})
	return e
}

// detail decodes a field of the struct of a logical type.
func (l *logical) detail(d *thrift, id int, kind byte) bool {
	switch {
	case l.kind == logicalDecimal && id == 1:
		l.scale = d.small(kind)
	case l.kind == logicalInteger && id == 1:
		l.bits = int8(d.small(kind))
	case l.kind == logicalInteger && id == 2:
		l.signed = d.integer(kind) != 0
	case (l.kind == logicalTime || l.kind == logicalTimestamp) && id == 2:
		d.record(kind, func(id int, _ byte) bool { l.unit = id; return false })
	default:
		return false
	}
	return true
}

func decodeGroup(d *thrift, kind byte) group {
	g := group{rows: -1}
	d.record(kind, func(id int, kind byte) bool {
		switch id {
		case 1:
			d.list(kind, func(kind byte) { g.chunks = append(g.chunks, decodeChunk(d, kind)) })
		case 3:
			g.rows = d.integer(kind)
		default:
			return false
		}
		return true
	})
	return g
}

func decodeChunk(d *thrift, kind byte) chunk {
	c := chunk{physical: -1, values: -1, off: -1, size: -1, nulls: -1}
	dictionary := int64(0)
	d.record(kind, func(id int, kind byte) bool {
		switch id {
		case 1, 8, 9: // name of another file, encryption, encrypted metadata
			c.outside = true
			return false
		case 3:
			d.record(kind, func(id int, kind byte) bool {
				switch id {
				case 1:
					c.physical = d.small(kind)
				case 4:
					c.codec = d.small(kind)
				case 5:
					c.values = d.integer(kind)
				case 7:
					c.size = d.integer(kind)
				case 9:
					c.off = d.integer(kind)
				case 11:
					dictionary = d.integer(kind)
				case 12:
					d.record(kind, func(id int, kind byte) bool {
						if id == 3 {
							c.nulls = d.integer(kind)
						}
						return id == 3
					})
				default:
					return false
				}
				return true
			})
		default:
			return false
		}
		return true
	})
	if dictionary > 0 && dictionary < c.off {
		c.off = dictionary
	}
	return c
}

// keyValue decodes an entry of the metadata that applications add.
func (t *table) keyValue(d *thrift, kind byte) {
	var key string
	var value []byte
	d.record(kind, func(id int, kind byte) bool {
		switch id {
		case 1:
			key = string(d.binary(kind))
		case 2:
			value = d.binary(kind)
		default:
			return false
		}
		return true
	})
	switch {
	case key == "huggingface":
		t.feature = value
	case strings.HasPrefix(key, "org.apache.spark."):
		t.spark = true
	}
}
