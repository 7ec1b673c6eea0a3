package encode

import (
	"fmt"

	"github.com/fxamacker/cbor/v2"
	"github.com/vmihailenco/msgpack/v5/msgpcode"

	"github.com/ffconvert/ffconvert/converters"
)

// msgpack decodes a record that is a MessagePack map.
func (d *Decoder) msgpack(record []byte) error {
	v := d.values
	v.data = record
	v.reader.Reset(record)
	v.mp.Reset(&v.reader)
	if code, err := v.mp.PeekCode(); err != nil || !isMsgpackMap(code) {
		return notMap("MessagePack")
	}
	n, err := v.mp.DecodeMapLen()
	if err := v.msgpackCount(1, n, err); err != nil {
		return err
	}
	for range n {
		code, err := v.mp.PeekCode()
		if err != nil {
			return unexpected("MessagePack", err)
		}
		if !msgpcode.IsString(code) {
			return badName()
		}
		b, err := v.msgpackText()
		if err != nil {
			return err
		}
		name := d.name(b)
		x, err := v.msgpackField(name)
		if err != nil {
			return err
		}
		if err := d.put(name, x); err != nil {
			return err
		}
	}
	if left := v.reader.Len(); left > 0 {
		return malformed("%d bytes follow the MessagePack object", left)
	}
	return nil
}

func isMsgpackMap(code byte) bool {
	return msgpcode.IsFixedMap(code) || code == msgpcode.Map16 || code == msgpcode.Map32
}

// msgpackText reads text without copying it.
func (d *decoder) msgpackText() ([]byte, error) {
	b, err := d.msgpackBytes()
	if err != nil {
		return nil, err
	}
	return b, checkUTF8(b)
}

// msgpackField reads the value of a field.
func (d *decoder) msgpackField(name string) (converters.Value, error) {
	code, err := d.mp.PeekCode()
	if err != nil {
		return converters.Value{}, unexpected("MessagePack", err)
	}
	switch {
	case msgpcode.IsBin(code):
		b, err := d.msgpackBytes()
		return converters.Bytes(b), err
	case msgpcode.IsString(code):
		b, err := d.msgpackText()
		return converters.Text(b), err
	case isMsgpackMap(code) || msgpcode.IsFixedArray(code) || code == msgpcode.Array16 || code == msgpcode.Array32:
		from := len(d.data) - d.reader.Len()
		pairs := newMsgpackPairs(d.data[from:])
		if !pairs.skip() {
			return converters.Value{}, malformed("field %q: bad MessagePack", name)
		}
		if err := d.nestedSize(len(d.data) - from - pairs.left()); err != nil {
			return converters.Value{}, fmt.Errorf("field %q: %w", name, err)
		}
	}
	x, err := d.msgpackValue(d.limits.MaxDepth)
	if err != nil {
		err = fmt.Errorf("field %q: %w", name, err)
	}
	return converters.ValueOf(x), err
}

// cbor decodes a record that is a CBOR map.
func (d *Decoder) cbor(record []byte) error {
	if len(record) == 0 || record[0] < cborMap || record[0] > cborMap|31 {
		return notMap("CBOR")
	}
	if err := d.values.cborDM.Wellformed(record); err != nil {
		return d.values.cborError(err)
	}
	n, rest := cborCount(record)
	for ; !cborEnds(n, rest); n-- {
		if rest[0] < cborText || rest[0] > cborText|27 {
			return badName()
		}
		b, next := cborString(rest)
		if err := checkUTF8(b); err != nil {
			return err
		}
		name := d.name(b)
		x, next, err := d.values.cborField(name, next)
		if err != nil {
			return err
		}
		if err := d.put(name, x); err != nil {
			return err
		}
		rest = next
	}
	return nil
}

// cborString returns the bytes of a string of definite length at the start of data, which is well-formed,
// and the bytes after it.
func cborString(data []byte) (b, rest []byte) {
	n, rest := cborCount(data)
	return rest[:n:n], rest[n:]
}

// cborField reads the value of a field at the start of data, which is well-formed.
func (d *decoder) cborField(name string, data []byte) (v converters.Value, rest []byte, err error) {
	switch first := data[0]; {
	case first >= cborBytes && first <= cborBytes|27:
		b, rest := cborString(data)
		return converters.Bytes(b), rest, nil
	case first >= cborText && first <= cborText|27:
		b, rest := cborString(data)
		return converters.Text(b), rest, checkUTF8(b)
	case first >= cborBytes && first <= cborMap|31:
		var item cbor.RawMessage
		after, err := d.cborDM.UnmarshalFirst(data, &item)
		if err != nil {
			return v, nil, d.cborError(err)
		}
		if err := d.nestedSize(len(data) - len(after)); err != nil {
			return v, nil, fmt.Errorf("field %q: %w", name, err)
		}
	}
	x, rest, err := d.cborValue(data)
	if err != nil {
		err = fmt.Errorf("field %q: %w", name, err)
	}
	return converters.ValueOf(x), rest, err
}
