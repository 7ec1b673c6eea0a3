package tfrecord

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

const (
	varintMax = 10  // bytes of the longest varint
	groupsMax = 100 // groups one inside the other, as protobuf's own readers allow
)

// A message consumes the data of a record, and the messages in it, in protobuf's wire format.
type message struct {
	scan.Window
	part    string // its name, for errors
	ordinal int64  // of the record in the part
	start   int64  // offset of the record in the part, bytes
	data    int64  // offset of its data
	unknown bool   // fields of the record were skipped
}

// each calls known for each field of the message that ends at an offset. known consumes the value, or returns
// false, and each skips it.
func (m *message) each(end int64, known func(protowire.Number, protowire.Type) (bool, error)) error {
	for m.Offset() < end {
		num, typ, err := m.tag(end)
		if err != nil {
			return err
		}
		ok, err := known(num, typ)
		if err == nil && !ok {
			m.unknown = true
			err = m.skip(num, typ, end, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tag consumes the number and the type of a field.
func (m *message) tag(end int64) (protowire.Number, protowire.Type, error) {
	v, err := m.varint(end)
	if err != nil {
		return 0, 0, err
	}
	num, typ := protowire.DecodeTag(v)
	if !num.IsValid() {
		return 0, 0, m.malformed("field number %d", v>>3)
	}
	return num, typ, nil
}

// varint consumes a number of variable size.
func (m *message) varint(end int64) (uint64, error) {
	left := end - m.Offset()
	if m.Unread() < varintMax {
		if err := m.Fill(int(min(varintMax, left))); err != nil {
			return 0, m.fail(err, "")
		}
	}
	b := m.Buf[m.Pos:]
	if int64(len(b)) > left {
		b = b[:left]
	}
	v, n := protowire.ConsumeVarint(b)
	switch {
	case n < 0 && left < varintMax:
		return 0, m.malformed("a number that does not end in its message")
	case n < 0:
		return 0, m.malformed("a number of more than 64 bits")
	}
	m.Pos += n
	return v, nil
}

// length consumes the size of a value and returns the offset of its end.
func (m *message) length(end int64) (int64, error) {
	n, err := m.varint(end)
	if err != nil {
		return 0, err
	}
	if left := end - m.Offset(); n > uint64(left) {
		return 0, m.malformed("a value of %d bytes in a message that has %d more", n, left)
	}
	return m.Offset() + int64(n), nil
}

// bytes returns the next n bytes, which the message must have, and consumes them. They are valid until the next call
// that reads.
func (m *message) bytes(n, end int64) ([]byte, error) {
	if left := end - m.Offset(); n > left {
		return nil, m.malformed("a value of %d bytes in a message that has %d more", n, left)
	}
	b, err := m.Peek(int(n))
	if err != nil {
		return nil, m.fail(err, "")
	}
	m.Pos += int(n)
	return b[:n:n], nil
}

// skip consumes the value of an unknown field.
func (m *message) skip(num protowire.Number, typ protowire.Type, end int64, depth int) (err error) {
	switch typ {
	case protowire.VarintType:
		_, err = m.varint(end)
	case protowire.Fixed32Type:
		_, err = m.bytes(4, end)
	case protowire.Fixed64Type:
		_, err = m.bytes(8, end)
	case protowire.BytesType:
		var to int64
		if to, err = m.length(end); err == nil {
			m.Skip(to - m.Offset())
		}
	case protowire.StartGroupType:
		err = m.skipGroup(num, end, depth+1)
	case protowire.EndGroupType:
		err = m.malformed("the end of a group that did not begin")
	default:
		err = m.malformed("wire type %d", typ)
	}
	return err
}

// skipGroup consumes fields up to the end of group num.
func (m *message) skipGroup(group protowire.Number, end int64, depth int) error {
	if depth > groupsMax {
		return m.malformed("more than %d groups one inside the other", groupsMax)
	}
	for m.Offset() < end {
		num, typ, err := m.tag(end)
		if err != nil {
			return err
		}
		if typ == protowire.EndGroupType && num == group {
			return nil
		}
		if err := m.skip(num, typ, end, depth); err != nil {
			return err
		}
	}
	return m.malformed("a group that does not end")
}

// entry names the record, for messages.
func (m *message) entry() string { return fmt.Sprint("record ", m.ordinal) }

// malformed returns an error about the bytes at the current place or just before it.
func (m *message) malformed(format string, args ...any) error {
	return m.fail(fmt.Errorf("%w: near byte %d of its data: %s", converters.ErrMalformed, m.Offset()-m.data, fmt.Sprintf(format, args...)), hintWhole)
}

// fail places an error at the current record.
func (m *message) fail(err error, hint string) error {
	return &converters.Error{Where: m.part, Off: m.start, Entry: m.entry(), Err: err, Hint: hint}
}
