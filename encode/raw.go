package encode

import (
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
)

// rawFormat writes the bytes of one field and nothing else.
type rawFormat struct {
	field choice
}

func openRaw(arg string) (format, error) {
	if arg == "" {
		return nil, errors.New("want raw:FIELD, the field whose bytes are the record")
	}
	c, err := parseChoice(arg)
	return rawFormat{c}, err
}

func (f rawFormat) encode(b *builder, s *converters.Sample) error {
	i := f.field.in(s.Fields)
	if i < 0 {
		return missing(f.field, s)
	}
	v := s.Fields[i].Value
	if v.Kind() > converters.KindText {
		return fmt.Errorf("field %q: %w: raw takes bytes or text", s.Fields[i].Name, converters.ErrUnsupported)
	}
	b.value(v)
	b.fields = 1
	return nil
}
