package convertertest

import (
	"fmt"
	"math"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

// Words formats a value so that a writer in another language can produce the same text: integers as digits, f and the
// bits of a float64; t and the UTF-8 of a text, b and bytes, in hexadecimal; [a,b]; {key:value}.
func Words(v converters.Value) string {
	switch v.Kind() {
	case converters.KindBytes:
		return anyWords(v.Data())
	case converters.KindText:
		return anyWords(string(v.Data()))
	case converters.KindInt:
		return anyWords(v.Int())
	case converters.KindFloat:
		return anyWords(v.Float())
	}
	return anyWords(v.Nested())
}

func anyWords(v any) string {
	var words []string
	switch v := v.(type) {
	case nil:
		return "null"
	case float64:
		return fmt.Sprintf("f%016x", math.Float64bits(v))
	case string:
		return fmt.Sprintf("t%x", v)
	case []byte:
		return fmt.Sprintf("b%x", v)
	case []any:
		for _, e := range v {
			words = append(words, anyWords(e))
		}
		return "[" + strings.Join(words, ",") + "]"
	case converters.Map:
		for _, p := range v {
			words = append(words, anyWords(p.Key)+":"+anyWords(p.Value))
		}
		return "{" + strings.Join(words, ",") + "}"
	}
	return fmt.Sprint(v)
}

// SampleWords formats the key and the fields of a sample: the name, a colon and the [Words] of each value.
func SampleWords(s *converters.Sample) []string {
	words := []string{s.Key}
	for _, f := range s.Fields {
		words = append(words, f.Name+":"+Words(f.Value))
	}
	return words
}
