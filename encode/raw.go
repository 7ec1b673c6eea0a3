package encode

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
)

// numbersHint says why rows of numbers were not packed by their source, which makes them one field of bytes.
const numbersHint = "option encode msgpack takes any value; raw takes rows of numbers of CSV, and of Parquet if they are of one type and its footer says that none is null"

func openRaw() Form { return encodeRaw }

// encodeRaw writes the bytes of the sample's only field.
func encodeRaw(b *Builder, s *converters.Sample) error {
	if len(s.Fields) != 1 {
		if !slices.ContainsFunc(s.Fields, isBytes) {
			return place.WithHint(fmt.Errorf("%w: raw takes one field of bytes or text, this has %q and neither", converters.ErrUnsupported, fieldNames(s)), numbersHint)
		}
		return fmt.Errorf("%w: raw takes a sample of one field, this has %q; name one with raw:FIELD", converters.ErrUnsupported, fieldNames(s))
	}
	f := &s.Fields[0]
	if !isBytes(*f) {
		return place.WithHint(fmt.Errorf("field %q: %w: raw takes bytes or text", f.Name, converters.ErrUnsupported), "option encode msgpack takes any value")
	}
	b.Value(&f.Value)
	return nil
}

func isBytes(f converters.Field) bool { return f.Value.Kind() <= converters.KindText }

func openEncoded() Form { return encodeEncoded }

// encodeEncoded writes the first field of a sample, which is its record: see Options.Encoded.
func encodeEncoded(b *Builder, s *converters.Sample) error {
	if len(s.Fields) == 0 || s.Fields[0].Value.Kind() != converters.KindBytes {
		return errors.New("internal error: a sample that is encoded already has no record")
	}
	b.Value(&s.Fields[0].Value)
	return nil
}
