package encode

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
)

// rawFormat writes the bytes of the sample's only field.
type rawFormat struct{}

func newRaw() format { return rawFormat{} }

func (rawFormat) encode(b *builder, s *converters.Sample) error {
	if len(s.Fields) != 1 {
		return fmt.Errorf("%w: raw takes a sample of one field, this has %q; name one with raw:FIELD", converters.ErrUnsupported, fieldNames(s))
	}
	f := &s.Fields[0]
	if f.Value.Kind() > converters.KindText {
		return &hintedError{fmt.Errorf("field %q: %w: raw takes bytes or text", f.Name, converters.ErrUnsupported), "Options.Encoding msgpack takes any value"}
	}
	b.value(&f.Value)
	return nil
}
