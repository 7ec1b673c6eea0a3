package encode

import (
	"fmt"
	"math"

	"github.com/ffconvert/ffconvert/converters"
)

// A token is a syntactic element of a map record. Brackets give the meaning of a syntax's n.
type token uint8

const (
	tokenBegin token = iota // before the record
	tokenEnd                // after the record
	tokenNull
	tokenFalse
	tokenTrue
	tokenInt     // [an int64]
	tokenUint    // [an integer above math.MaxInt64]
	tokenFloat   // [the bits of a float64]
	tokenText    // before text [its length in bytes]
	tokenBytes   // before bytes [their number]
	tokenList    // before the elements of a list [their number]
	tokenListEnd // after the elements of a list
	tokenMap     // before the entries of a map, each a key and a value [the number of entries]
	tokenMapEnd  // after the entries of a map
)

// A mapForm writes {"__key__": key, field: value, …}. Fields and the keys of nested maps keep their
// order.
type mapForm struct {
	name   string
	syntax func(b []byte, t token, n uint64) []byte // appends a token to b
	limit  uint64                                   // largest n of text, bytes, a list, a map
}

// The encodings whose records are maps.
var (
	msgpackForm = &mapForm{"MessagePack", msgpackSyntax, math.MaxUint32}
	cborForm    = &mapForm{"CBOR", cborSyntax, math.MaxInt64}
	pickleForm  = &mapForm{"pickle", pickleSyntax, math.MaxInt64}
)

func (m *mapForm) open() Form { return m.encode }

func (m *mapForm) encode(b *Builder, s *converters.Sample) error {
	n := len(s.Fields)
	if s.Key != "" {
		n++
	}
	b.form = m
	m.put(b, tokenBegin, 0)
	m.put(b, tokenMap, uint64(n))
	if s.Key != "" {
		if err := m.text(b, converters.KeyField); err != nil {
			return err
		}
		if err := m.text(b, s.Key); err != nil {
			return fmt.Errorf("key: %w", err)
		}
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		if err := checkName(s, f); err != nil {
			return err
		}
		if err := m.text(b, f.Name); err != nil {
			return err
		}
		if err := m.value(b, &f.Value); err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	m.put(b, tokenMapEnd, 0)
	m.put(b, tokenEnd, 0)
	return nil
}

// checkName returns an error if the field has the name of the record's key entry.
func checkName(s *converters.Sample, f *converters.Field) error {
	if f.Name == converters.KeyField && s.Key != "" {
		return fmt.Errorf("field %q: %w: the record's key has that name", f.Name, converters.ErrDuplicate)
	}
	return nil
}

func (m *mapForm) put(b *Builder, t token, n uint64) { b.Written = m.syntax(b.Written, t, n) }

// head puts a token with a length or a number of elements.
func (m *mapForm) head(b *Builder, t token, n int64) error {
	if uint64(n) > m.limit {
		return fmt.Errorf("%w: %s holds at most 4 GiB a value and 4 Gi elements, this has %d", converters.ErrLimit, m.name, n)
	}
	m.put(b, t, uint64(n))
	return nil
}

func (m *mapForm) text(b *Builder, s string) error {
	if err := m.head(b, tokenText, int64(len(s))); err != nil {
		return err
	}
	b.Written = append(b.Written, s...)
	return nil
}

// varying returns the bytes of the record of s that may differ in a sample with fields of the same names and kinds. It is
// false if more may differ, or if s does not fit. It overwrites b.
func (m *mapForm) varying(b *Builder, s *converters.Sample) (size int64, ok bool) {
	b.Written = b.Written[:0]
	if s.Key != "" {
		size = int64(len(s.Key))
		m.put(b, tokenText, uint64(size))
	}
	for i := range s.Fields {
		switch v := &s.Fields[i].Value; v.Kind() {
		case converters.KindBytes, converters.KindText:
			n := v.Len()
			if uint64(n) > m.limit {
				return 0, false
			}
			m.put(b, tokenOf(v), uint64(n))
			size += n
		case converters.KindInt:
			m.put(b, tokenInt, uint64(v.Int()))
		case converters.KindNested:
			return 0, false
		}
	}
	return size + int64(len(b.Written)), true
}

// tokenOf returns the token before bytes or a text.
func tokenOf(v *converters.Value) token {
	if v.Kind() == converters.KindText {
		return tokenText
	}
	return tokenBytes
}

func (m *mapForm) value(b *Builder, v *converters.Value) error {
	switch v.Kind() {
	case converters.KindBytes, converters.KindText:
		if err := m.head(b, tokenOf(v), v.Len()); err != nil {
			return err
		}
		b.Value(v)
	case converters.KindInt:
		m.put(b, tokenInt, uint64(v.Int()))
	case converters.KindFloat:
		m.put(b, tokenFloat, math.Float64bits(v.Float()))
	default:
		return m.nested(b, v.Nested())
	}
	return nil
}

// nested writes a value of one of the types that [converters.Nested] accepts.
func (m *mapForm) nested(b *Builder, x any) error {
	switch x := x.(type) {
	case nil:
		m.put(b, tokenNull, 0)
	case bool:
		if x {
			m.put(b, tokenTrue, 0)
		} else {
			m.put(b, tokenFalse, 0)
		}
	case int64:
		m.put(b, tokenInt, uint64(x))
	case uint64:
		if x > math.MaxInt64 {
			m.put(b, tokenUint, x)
		} else {
			m.put(b, tokenInt, x)
		}
	case float64:
		m.put(b, tokenFloat, math.Float64bits(x))
	case string:
		return m.text(b, x)
	case []byte:
		v := converters.Bytes(x)
		return m.value(b, &v)
	case []any:
		return m.list(b, x)
	case converters.Column:
		return m.list(b, x.Values)
	case converters.Map:
		return m.object(b, x)
	default:
		return fmt.Errorf("%w: a nested value of the Go type %T", converters.ErrUnsupported, x)
	}
	return nil
}

func (m *mapForm) list(b *Builder, list []any) error {
	if err := m.head(b, tokenList, int64(len(list))); err != nil {
		return err
	}
	for _, x := range list {
		if err := m.nested(b, x); err != nil {
			return err
		}
	}
	m.put(b, tokenListEnd, 0)
	return nil
}

func (m *mapForm) object(b *Builder, pairs converters.Map) error {
	if err := m.head(b, tokenMap, int64(len(pairs))); err != nil {
		return err
	}
	for i := range pairs {
		if err := m.nested(b, pairs[i].Key); err != nil {
			return err
		}
		if err := m.nested(b, pairs[i].Value); err != nil {
			return err
		}
	}
	m.put(b, tokenMapEnd, 0)
	return nil
}
