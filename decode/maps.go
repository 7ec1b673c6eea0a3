package decode

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/heads"
)

// object decodes a record that is a map of MessagePack or CBOR.
func (d *Decoder) object(record []byte) error {
	if len(record) > 0 {
		if k := d.items.forms.Of(record[0]).Kind; k == heads.Map || k == heads.OpenMap {
			return d.items.worded(record, d.entries(record))
		}
	}
	return notMap(d.items.name)
}

func (d *Decoder) entries(record []byte) error {
	t := d.items
	h, rest, err := t.head(record)
	if err != nil {
		return err
	}
	if err := t.enter(rest, h, 1); err != nil {
		return err
	}
	depth := t.limits.MaxDepth
	if t.valid != nil {
		depth-- // the library counts the record as one level
	}
	for n := uint64(0); ; n++ {
		var ok bool
		if rest, ok = ends(h, n, rest); ok {
			return t.end(rest)
		}
		name, after, err := t.fieldName(rest)
		if err != nil {
			return err
		}
		text, err := d.name(name)
		if err != nil {
			return err
		}
		v, after, err := t.fieldValue(text, after, depth)
		if err != nil {
			return err
		}
		if err := d.put(text, v); err != nil {
			return err
		}
		rest = after
	}
}

// fieldName reads the name of a field at the start of data.
func (t *items) fieldName(data []byte) (name, rest []byte, err error) {
	h, rest, err := t.head(data)
	switch {
	case err != nil:
		return nil, nil, err
	case h.Kind != heads.Text:
		return nil, nil, badName()
	}
	return t.bytes(rest, h.Arg)
}

// fieldValue reads the value of a field at the start of data. Bytes and text are not copied.
func (t *items) fieldValue(name string, data []byte, depth int) (v converters.Value, rest []byte, err error) {
	h, rest, err := t.head(data)
	if err != nil {
		return v, nil, err
	}
	switch h.Kind {
	case heads.Bytes, heads.Text:
		b, rest, err := t.bytes(rest, h.Arg)
		if err != nil || h.Kind == heads.Bytes {
			return converters.Bytes(b), rest, err
		}
		return converters.Text(b), rest, checkUTF8(b)
	case heads.Array, heads.Map, heads.OpenArray, heads.OpenMap, heads.ChunkedBytes, heads.ChunkedText:
		after, ok := skip(t.forms, data, 1, depth)
		if !ok {
			return v, nil, malformed("field %q: bad %s", name, t.name)
		}
		if err := t.limits.nested(len(data) - len(after)); err != nil {
			return v, nil, fmt.Errorf("field %q: %w", name, err)
		}
	}
	x, rest, err := t.value(data, depth)
	if err != nil {
		return v, nil, fmt.Errorf("field %q: %w", name, err)
	}
	return converters.ValueOf(x), rest, nil
}

// skip returns what follows n items at the start of data, or false if they are cut, or no items. Items of any length are nested up
// to depth levels, others as deep as they are.
func skip(t *heads.Forms, data []byte, n uint64, depth int) (rest []byte, ok bool) {
	for ; n > 0; n-- {
		h, rest, ok := headOf(t, data)
		if !ok {
			return nil, false
		}
		data = rest
		more := uint64(0)
		switch h.Kind {
		case heads.Bytes, heads.Text, heads.Extension:
			if h.Arg > uint64(len(data)) {
				return nil, false
			}
			data = data[h.Arg:]
		case heads.Array, heads.Map:
			if h.Arg > uint64(len(data)) {
				return nil, false
			}
			if more = h.Arg; h.Kind == heads.Map {
				more *= 2
			}
		case heads.Tag:
			more = 1
		case heads.OpenArray, heads.OpenMap, heads.ChunkedBytes, heads.ChunkedText:
			if data, ok = skipOpen(t, data, h.Kind, depth-1); !ok {
				return nil, false
			}
		case heads.Simple:
			if h.Size > 1 && h.Arg < 32 {
				return nil, false
			}
		case heads.Break, heads.Reserved:
			return nil, false
		}
		if n += more; n-1 > uint64(len(data)) { // each takes a byte at least
			return nil, false
		}
	}
	return data, true
}

// skipOpen returns what follows the break that ends an item of any length, after its head.
func skipOpen(t *heads.Forms, data []byte, in heads.Kind, depth int) (rest []byte, ok bool) {
	each := uint64(1)
	if in == heads.OpenMap {
		each = 2
	}
	for depth >= 0 && len(data) > 0 {
		kind := t.Of(data[0]).Kind
		switch {
		case kind == heads.Break:
			return data[1:], true
		case in == heads.ChunkedBytes && kind != heads.Bytes, in == heads.ChunkedText && kind != heads.Text:
			return nil, false
		}
		if data, ok = skip(t, data, each, depth); !ok {
			return nil, false
		}
	}
	return nil, false
}

// entries calls f with the names and values of a record that is a map of text and anything, the values with their heads. It returns
// false for any other record, after some calls. Items of any length are nested up to depth levels.
func entries(t *heads.Forms, record []byte, depth int, f func(name []byte, h heads.Head, value []byte)) bool {
	m, data, ok := headOf(t, record)
	if !ok || m.Kind != heads.Map && m.Kind != heads.OpenMap {
		return false
	}
	for n := uint64(0); ; n++ {
		if data, ok = ends(m, n, data); ok {
			return len(data) == 0
		}
		h, rest, ok := headOf(t, data)
		if !ok || h.Kind != heads.Text || h.Arg >= uint64(len(rest)) {
			return false
		}
		name, value := rest[:h.Arg], rest[h.Arg:]
		if data, ok = skip(t, value, 1, depth); !ok {
			return false
		}
		h, _, _ = headOf(t, value)
		n := len(value) - len(data)
		f(name, h, value[:n:n])
	}
}

// mapForms returns the heads of the encoding of which a record that begins with this byte is a map, or nil. No byte is both.
func mapForms(first byte) *heads.Forms {
	for _, t := range []*heads.Forms{heads.MessagePack, heads.CBOR} {
		if k := t.Of(first).Kind; k == heads.Map || k == heads.OpenMap {
			return t
		}
	}
	return nil
}
