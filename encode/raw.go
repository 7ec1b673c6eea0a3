package encode

import (
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
)

// rawFormat writes the bytes of the sample's only field.
type rawFormat struct{}

func newRaw() format { return rawFormat{} }

func (rawFormat) encode(b *Builder, s *converters.Sample) error {
	if len(s.Fields) != 1 {
		return fmt.Errorf("%w: raw takes a sample of one field, this has %q; name one with raw:FIELD", converters.ErrUnsupported, fieldNames(s))
	}
	f := &s.Fields[0]
	if f.Value.Kind() > converters.KindText {
		return place.WithHint(fmt.Errorf("field %q: %w: raw takes bytes or text", f.Name, converters.ErrUnsupported), "option encode msgpack takes any value")
	}
	b.Value(&f.Value)
	return nil
}

// encodedFormat writes the first field of a sample, which is its record: see Options.Encoded.
type encodedFormat struct{}

func newEncoded() format { return encodedFormat{} }

func (encodedFormat) encode(b *Builder, s *converters.Sample) error {
	if len(s.Fields) == 0 || s.Fields[0].Value.Kind() != converters.KindBytes {
		return errors.New("internal error: a sample that is encoded already has no record")
	}
	b.Value(&s.Fields[0].Value)
	return nil
}
