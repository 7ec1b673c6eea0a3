package encode

import (
	"errors"
	"fmt"
	"math"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/ffconvert/ffconvert/converters"
)

// KeyField is the name under which a map record holds the key of its sample.
const KeyField = "__key__"

// msgpackFormat writes {"__key__": key, field: value, …}: text as str, bytes as bin.
type msgpackFormat struct {
	enc *msgpack.Encoder
}

func openMsgpack(arg string) (format, error) {
	if arg != "" {
		return nil, errors.New("msgpack takes no argument")
	}
	enc := msgpack.NewEncoder(nil)
	enc.UseCompactInts(true)
	enc.SetSortMapKeys(true)
	return &msgpackFormat{enc}, nil
}

func (m *msgpackFormat) encode(b *builder, s *converters.Sample) error {
	m.enc.ResetWriter(b)
	if err := m.enc.EncodeMapLen(1 + len(s.Fields)); err != nil {
		return err
	}
	if err := m.pair(KeyField, s.Key); err != nil {
		return err
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		if err := m.field(b, f); err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	b.fields = len(s.Fields)
	return nil
}

func (m *msgpackFormat) pair(name, text string) error {
	if err := m.enc.EncodeString(name); err != nil {
		return err
	}
	return m.enc.EncodeString(text)
}

func (m *msgpackFormat) field(b *builder, f *converters.Field) error {
	if f.Name == KeyField {
		return fmt.Errorf("%w: the record's key has that name", converters.ErrDuplicate)
	}
	if err := m.enc.EncodeString(f.Name); err != nil {
		return err
	}
	switch f.Value.Kind() {
	case converters.KindBytes:
		if f.Value.Len() > math.MaxUint32 {
			return fmt.Errorf("%w: MessagePack holds at most 4 GiB a field, this has %d bytes", converters.ErrLimit, f.Value.Len())
		}
		if err := m.enc.EncodeBytesLen(int(f.Value.Len())); err != nil {
			return err
		}
		b.value(f.Value)
		return nil
	case converters.KindText:
		return m.enc.EncodeString(string(f.Value.Data()))
	case converters.KindInt:
		return m.enc.EncodeInt(f.Value.Int())
	case converters.KindFloat:
		return m.enc.EncodeFloat64(f.Value.Float())
	}
	return m.enc.Encode(f.Value.Nested())
}
