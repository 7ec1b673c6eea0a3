package cbor

import (
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/heads"
)

// A spot is the place of the bytes of a field, in the held bytes of the item or in scanner.copied.
type spot struct {
	field, at, n int
	text         bool
}

// errNotText means that a map has a key that is not text, so that its entries cannot be fields.
var errNotText = errors.New("a key that is not text")

// fields makes a field of each entry if the item is a map with text keys, else one field.
func (s *scanner) fields() error {
	s.names.clear()
	s.Hold()
	h, err := s.outer()
	if err != nil {
		return err
	}
	err = errNotText
	if h.Kind == heads.Map || h.Kind == heads.OpenMap {
		s.release()
		err = s.entries(h, (*scanner).field)
	}
	if err == errNotText {
		s.clear()
		s.SeekBack(s.start)
		err = s.value(name{itemField, s.loadItem})
	}
	if err != nil {
		return err
	}
	data := s.copied
	if s.whole {
		data = s.Held()
	}
	for _, p := range s.spots {
		b := data[p.at : p.at+p.n : p.at+p.n]
		if p.text {
			s.sample.Fields[p.field].Value = converters.Text(b)
		} else {
			s.sample.Fields[p.field].Value = converters.Bytes(b)
		}
	}
	return nil
}

// field consumes an entry and makes it a field or the key of the sample.
func (s *scanner) field(k heads.Head) error {
	isKey, err := s.atKeyEntry(k)
	switch {
	case err != nil:
		return err
	case isKey:
		v, err := s.head()
		if err == nil && v.Kind != heads.Text {
			err = s.fail(fmt.Errorf("%w: its %q is not text of definite length", converters.ErrMalformed, converters.KeyField), hintRaw)
		}
		if err != nil {
			return err
		}
		return s.key(v)
	case k.Kind == heads.ChunkedText:
		return s.fail(fmt.Errorf("%w: the name of a field in chunks", converters.ErrUnsupported), hintRaw)
	case k.Kind != heads.Text:
		return errNotText
	}
	b, err := s.name(k.Arg)
	if err != nil {
		return err
	}
	n, again := s.names.take(len(s.sample.Fields), b, s.opts.Load)
	if again {
		return s.fail(fmt.Errorf("%w field %q", converters.ErrDuplicate, n.text), hintRaw)
	}
	return s.value(n)
}

// value consumes an item and makes it the value of the sample's next field. Index skips bytes that it
// does not load, and copies text, because the window moves on.
func (s *scanner) value(n name) error {
	s.Hold()
	from := len(s.Held())
	h, err := s.head()
	if err != nil {
		return err
	}
	s.heads++
	var v converters.Value
	switch {
	case h.Kind <= heads.Null:
		v, err = h.Value()
		err = s.refuse(n.text, err)
	case h.Kind == heads.Bytes && !s.whole && !n.load:
		s.release()
		err = s.skip(h.Arg)
		v = converters.Opaque(int64(h.Arg))
	case h.Kind == heads.Bytes, h.Kind == heads.Text:
		err = s.str(h, from)
	default:
		v, err = s.nested(n.text, h, from)
	}
	if err != nil {
		return err
	}
	if s.heads > s.mostHeads {
		return s.crowded()
	}
	s.release()
	s.sample.Fields = append(s.sample.Fields, converters.Field{Name: n.text, Value: v})
	return nil
}

// str consumes a string after its head and records the spot of its bytes.
func (s *scanner) str(h heads.Head, from int) error {
	pass := s.skip
	if h.Kind == heads.Text {
		pass = s.text
	}
	if err := pass(h.Arg); err != nil {
		return err
	}
	p := spot{field: len(s.sample.Fields), at: from + int(h.Size), n: int(h.Arg), text: h.Kind == heads.Text}
	if !s.whole {
		data := s.Held()[p.at:]
		p.at = len(s.copied)
		s.copied = append(s.copied, data...)
	}
	s.spots = append(s.spots, p)
	return nil
}

// nested consumes an array, a map or a tagged item after its head, and decodes it.
func (s *scanner) nested(field string, h heads.Head, from int) (converters.Value, error) {
	if err := s.walk(h); err != nil {
		return converters.Value{}, err
	}
	if s.heads > s.mostHeads {
		return converters.Value{}, s.crowded()
	}
	d := decoder{forms: s.forms, b: s.Held()[from:]}
	v, err := d.value(d.head())
	if err != nil {
		return converters.Value{}, s.refuse(field, err)
	}
	return converters.ValueOf(v), nil
}

// release stops holding bytes, unless the whole item is held.
func (s *scanner) release() {
	if !s.whole {
		s.Drop()
	}
}

// refuse places an error about a field.
func (s *scanner) refuse(field string, err error) error {
	if err != nil {
		err = s.fail(fmt.Errorf("field %q: %w", field, err), hintRaw)
	}
	return err
}

// crowded refuses an item that would take too much memory when it is decoded.
func (s *scanner) crowded() error {
	return s.fail(fmt.Errorf("%w: the item has more than %d elements, of %d bytes each in memory", converters.ErrLimit, s.mostHeads, elementSize), hintItem+"; "+hintRaw)
}
